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

/// What the steps of a gather cost. Where a piece's places lie `gap` apart, it goes from either side to the middle between them: whole in
/// the steps below gap/2, in halves in step gap/2. weigh(piece, halves): the bytes of so many halves, less for later pieces.
template <class Weigh>
void add_gather(const RowClasses& classes, Load* loads, Weigh&& weigh) {
  const std::int32_t none = classes.classes();
  std::vector<std::int32_t> first_with(static_cast<std::size_t>(classes.longest_window()) + 2, none);  // by gap: the first piece
  classes.for_gaps([&](std::int32_t piece, std::int32_t gap) {
    std::int32_t& first = first_with[static_cast<std::size_t>(gap)];
    first = std::min(first, piece);
  });
  std::int32_t whole = none;  // the first piece with a gap above 2 e
  for (std::size_t e = classes.gather_steps(); e > 0; --e) {
    whole = std::min({whole, first_with[2 * e + 1], 2 * e + 2 < first_with.size() ? first_with[2 * e + 2] : none});
    if (whole < none) loads[e - 1].raise(weigh(whole, 2), 1);
    if (first_with[2 * e] < none) loads[e - 1].raise(weigh(first_with[2 * e], 1), 1);
  }
}

}  // namespace

SwathSchedule::Cost SwathSchedule::cost(Bytes bytes) const {
  std::vector<Load> loads(steps());
  for (std::size_t j = 0; j < parts_.size(); ++j) {
    const Part& part = parts_[j];
    const auto weigh = [&](std::int32_t first, std::int32_t pieces) {
      const std::uint64_t block = first_block(j, first);
      return bytes_of_segments(bytes, segments(), block, block + static_cast<std::uint64_t>(pieces) * blocks_of_piece_);
    };
    const auto add_spread = [&](const LineSpread& spread, Step begin, std::int32_t piece) {
      spread.for_all_sends([&](Step step, const LineSpread::Send& send) { loads[begin + step].raise(weigh(piece, 1), send.hops); });
    };
    for (const Phase& phase : phases_) {
      switch (phase.stage) {
        case Stage::scatter:
          part.scatter.for_all_sends([&](Step step, const LineSpread::Send& send) {
            loads[phase.begin + step].raise(weigh(scattered_piece(part, send.low), send.high - send.low + 1), send.hops);
          });
          break;
        case Stage::columns:
          for (std::size_t i = 0; i < part.columns.size(); ++i) add_spread(part.columns[i], phase.begin, static_cast<std::int32_t>(i));
          break;
        case Stage::rows: add_spread(part.rows[phase.along - 1], phase.begin, 0); break;  // no piece is longer than the first
        case Stage::gather:
          add_gather(part.classes, loads.data() + phase.begin, [&](std::int32_t piece, std::uint64_t halves) {
            const std::uint64_t block = first_block(j, piece);
            return bytes_of_segments(bytes, segments(), block, block + (halves == 1 ? 1 : blocks_of_piece_));
          });
      }
    }
  }
  Cost sum;
  for (const Load& load : loads) {
    sum.channel_bytes += load.bytes;
    sum.route_hops += load.hops;
  }
  return sum;
}

}  // namespace torus::broadcast
