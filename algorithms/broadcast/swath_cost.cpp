#include <algorithm>
#include <cstdlib>

#include "algorithms/broadcast/segment_count.hpp"
#include "algorithms/broadcast/swath_schedule.hpp"

namespace torus::broadcast {
namespace {

struct Load {
  Bytes bytes = 0;
  std::uint64_t hops = 0;
  void raise(Bytes b, std::int32_t h) {
    bytes = std::max(bytes, b);
    hops = std::max<std::uint64_t>(hops, static_cast<std::uint64_t>(std::abs(h)));
  }
};

std::int32_t hops_of(const LineSpread& spread, const LineSpread::Send& send) { return spread.ways() == Ways::complete ? 1 : send.hops; }

/// What the steps of a gather cost. Where a piece's places lie `gap` apart, it goes from either side to the middle between them: whole in
/// the steps below gap/2, in halves in step gap/2; forward only: whole, in the steps below gap. weigh(piece, halves): the bytes of so many
/// halves, less for later pieces.
template <class Weigh>
void add_gather(const RowClasses& classes, Load* loads, Weigh&& weigh) {
  if (classes.ways() == Ways::complete) {
    if (classes.gather_steps() > 0) loads[0].raise(weigh(0, 2), 1);
    return;
  }
  const std::int32_t none = classes.classes();
  const bool both = classes.ways() == Ways::both;
  std::vector<std::int32_t> first_with(static_cast<std::size_t>(classes.longest_gap()) + 1, none);  // by gap: the first piece
  classes.for_gaps([&](std::int32_t piece, std::int32_t gap) {
    std::int32_t& first = first_with[static_cast<std::size_t>(gap)];
    first = std::min(first, piece);
  });
  std::int32_t whole = none;  // the first piece with a gap above 2 e
  const auto first = [&](std::size_t gap) { return gap < first_with.size() ? first_with[gap] : none; };
  for (std::size_t e = classes.gather_steps(); e > 0; --e) {
    whole = both ? std::min({whole, first(2 * e + 1), first(2 * e + 2)}) : std::min(whole, first(e + 1));
    if (whole < none) loads[e - 1].raise(weigh(whole, 2), 1);
    if (both && first(2 * e) < none) loads[e - 1].raise(weigh(first_with[2 * e], 1), 1);
  }
}

}  // namespace

SwathSchedule::Cost SwathSchedule::cost(Bytes bytes) const {
  std::vector<Load> loads(steps());
  const auto weigh = [&](std::uint64_t first, std::uint64_t blocks) { return bytes_of_segments(bytes, segments(), first, first + blocks); };
  // No block is longer than an earlier one. So the first bundle of a level and the first piece of a bundle weigh most.
  for (const Part& part : parts_) {
    const std::uint64_t at = part.first_block, piece = part.piece_blocks;
    const auto add_spread = [&](const LineSpread& spread, Step begin, std::uint64_t block) {
      spread.for_all_sends(
          [&](Step step, const LineSpread::Send& send) { loads[begin + step].raise(weigh(block, piece), hops_of(spread, send)); });
    };
    const auto add_scatter = [&](const LineSpread& spread, Step begin, std::uint64_t stride, auto&& piece_at) {
      spread.for_all_sends([&](Step step, const LineSpread::Send& send) {
        const auto first = static_cast<std::uint64_t>(piece_at(send.low)), count = static_cast<std::uint64_t>(send.high - send.low + 1);
        loads[begin + step].raise(weigh(at + first * stride, count * stride), hops_of(spread, send));
      });
    };
    const auto gather_from = [&](const RowClasses& classes, Step begin, std::uint64_t stride) {
      add_gather(classes, loads.data() + begin, [&](std::int32_t taken, std::uint64_t halves) {
        return weigh(at + static_cast<std::uint64_t>(taken) * stride, halves == 1 ? stride / 2 : stride);
      });
    };
    for (const Phase& phase : phases_) {
      const bool of_level = phase.along < levels();
      switch (phase.stage) {
        case Stage::scatter:
          if (of_level) {
            const Part::Level& level = part.levels[phase.along];
            add_scatter(level.scatter, phase.begin, level.stride, [&](std::int32_t index) {
              return level.gather.class_of(modulo(level.scatter.offset(index), level.gather.classes()));
            });
          } else {
            add_scatter(part.scatter, phase.begin, piece, [&](std::int32_t index) { return scattered_piece(part, index); });
          }
          break;
        case Stage::columns:
          for (std::size_t i = 0; i < part.columns.size(); ++i) add_spread(part.columns[i], phase.begin, at + i * piece);
          break;
        case Stage::rows: {
          const std::vector<LineSpread>& rows = part.rows[phase.along - levels() - 1];
          for (std::size_t i = 0; i < rows.size(); ++i) add_spread(rows[i], phase.begin, at + i * piece);
          break;
        }
        case Stage::gather:
          if (of_level) {
            gather_from(part.levels[phase.along].gather, phase.begin, part.levels[phase.along].stride);
          } else {
            gather_from(part.classes, phase.begin, piece);
          }
      }
    }
  }
  Cost sum;
  for (const Load& load : loads) {
    sum.channel_bytes += times_bytes(1, load.bytes);
    sum.route_hops += load.hops;
  }
  return sum;
}

}  // namespace torus::broadcast
