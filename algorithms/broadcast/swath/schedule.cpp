#include "algorithms/broadcast/swath/schedule.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <torus/block.hpp>

#include "algorithms/common/canonical_form.hpp"
#include "algorithms/common/parameters.hpp"
#include "algorithms/common/shapes.hpp"

namespace torus::broadcast {
namespace {

/// The extents of a part's dimensions, in its order.
std::vector<std::int32_t> extents_of(const Topology& topology, const std::vector<Dimension>& linked, std::size_t begin) {
  std::vector<std::int32_t> extents;
  for (std::size_t e = 0; e < linked.size(); ++e) extents.push_back(topology.extent(linked[(begin + e) % linked.size()]));
  return extents;
}

/// Adds the layouts of `parts` parts.
void add_layouts(const Machine& machine, const std::vector<Dimension>& linked, std::size_t parts, std::size_t forward,
                 std::vector<SwathLayout>& layouts) {
  const std::size_t k = linked.size();
  const std::uint64_t most = std::max<std::uint64_t>(1, most_blocks / (std::uint64_t{machine.topology.nodes()} * 2 * parts));
  const auto complete = [&](std::size_t e) { return machine.topology.wiring(linked[e % k]) == Wiring::complete; };
  for (std::size_t first = 0; first < (parts < k ? k : 1); ++first) {
    std::uint64_t bundles = 1;
    for (std::size_t levels = 0; levels <= k && bundles <= most; ++levels) {
      std::int32_t most_h = levels + 1 < k ? largest_extent(machine.topology) : 1;
      bool equal = true;  // every part has as many bundles
      for (std::size_t j = 0; j < parts; ++j) {
        const std::vector<std::int32_t> extents = extents_of(machine.topology, linked, first + j);
        std::uint64_t own = 1;
        for (std::size_t e = 0; e < levels; ++e) own *= static_cast<std::uint64_t>(extents[e]);
        equal = equal && (j == 0 || own == bundles);
        if (j == 0) bundles = own;
        if (levels + 1 < k) most_h = std::min({most_h, extents[levels], extents[levels + 1]});
        if (levels + 1 < k && (complete(first + j + levels) || complete(first + j + levels + 1))) most_h = 1;  // no classes of rows there
      }
      for (std::int32_t h = 1; equal && h <= most_h && bundles * static_cast<std::uint64_t>(h) <= most; ++h) {
        layouts.push_back({parts, forward, first, levels, h, static_cast<std::uint32_t>(bundles * static_cast<std::uint64_t>(h))});
      }
    }
  }
}

}  // namespace

std::vector<SwathLayout> swath_layouts(const Machine& machine, Ways ways) {
  const std::vector<Dimension> linked = canonical_dimensions(machine);
  const std::size_t k = linked.size();
  if (k == 0) return {{.parts = 0, .forward = 0, .first = 0, .levels = 0, .h = 1, .pieces = 1}};
  const bool all = machine.ports >= static_cast<int>(machine.topology.max_ports());  // a line of 2 has one port
  const std::size_t pairs = all ? k : std::clamp<std::size_t>(static_cast<std::size_t>(machine.ports) / 2, 1, k);
  std::vector<SwathLayout> layouts;
  if (ways == Ways::forward) {
    add_layouts(machine, linked, 1, 1, layouts);
  } else {
    if (machine.ports % 2 == 1 && machine.ports > 1 && pairs < k && is_torus(machine.topology))
      add_layouts(machine, linked, pairs + 1, 1, layouts);
    add_layouts(machine, linked, pairs, 0, layouts);
  }
  std::stable_sort(layouts.begin(), layouts.end(), [](const SwathLayout& a, const SwathLayout& b) { return a.levels > b.levels; });
  return layouts;
}

namespace {

/// The steps of the longest of some spreads; 0 if there are none.
Step most_steps(const std::vector<LineSpread>& spreads) {
  Step steps = 0;
  for (const LineSpread& spread : spreads) steps = std::max(steps, spread.steps());
  return steps;
}

}  // namespace

SwathSchedule::SwathSchedule(const Machine& machine, const SwathLayout& layout, NodeId source) : layout_{layout} {
  const std::vector<Dimension> linked = canonical_dimensions(machine, source);
  const std::size_t k = linked.size();
  bool split = layout.forward > 0 && layout.forward < layout.parts;
  for (std::size_t j = 0; j < layout.parts; ++j) {
    std::vector<Dimension> order;
    for (std::size_t e = 0; e < k; ++e) order.push_back(linked[(layout.first + j + e) % k]);
    parts_.push_back(make_part(machine.topology, source, std::move(order), j + layout.forward < layout.parts ? Ways::both : Ways::forward));
    const Part& part = parts_.back();
    const auto whole = [](const Part::Level& level) { return level.gather.pieces_stay_whole(); };
    split = split || !part.classes.pieces_stay_whole() || !std::all_of(part.levels.begin(), part.levels.end(), whole);
  }
  for (std::size_t j = 0; j < layout.parts; ++j) {
    Part& part = parts_[j];
    part.piece_blocks = split && j + layout.forward < layout.parts ? 2 : 1;
    part.first_block = segments_;
    segments_ += layout.pieces * part.piece_blocks;
    std::uint32_t stride = layout.pieces * part.piece_blocks;
    for (Part::Level& level : part.levels) {
      stride /= static_cast<std::uint32_t>(level.gather.classes());
      level.stride = stride;
    }
  }
  const auto longest = [&](auto&& steps_of) {
    Step steps = 0;
    for (const Part& part : parts_) steps = std::max(steps, steps_of(part));
    return steps;
  };
  const std::size_t l = layout.levels;
  for (std::size_t e = 0; e < l; ++e) add_phase(Stage::scatter, e, longest([e](const Part& p) { return p.levels[e].scatter.steps(); }));
  add_phase(Stage::scatter, l + 1, longest([](const Part& p) { return p.scatter.steps(); }));
  add_phase(Stage::columns, l, longest([](const Part& p) { return most_steps(p.columns); }));
  for (std::size_t e = l + 1; e < k; ++e) add_phase(Stage::rows, e, longest([&](const Part& p) { return most_steps(p.rows[e - l - 1]); }));
  add_phase(Stage::gather, l, longest([](const Part& p) { return p.classes.gather_steps(); }));
  for (std::size_t e = l; e-- > 0;) add_phase(Stage::gather, e, longest([e](const Part& p) { return p.levels[e].gather.gather_steps(); }));
}

SwathSchedule::Part SwathSchedule::make_part(const Topology& topology, NodeId source, std::vector<Dimension> order, Ways ways) const {
  const std::size_t l = layout_.levels;
  const std::int32_t h = layout_.h;
  const auto extent = [&](std::size_t e) { return e < order.size() ? topology.extent(order[e]) : 1; };
  const auto line = [&](std::size_t e) { return e < order.size() && topology.wiring(order[e]) == Wiring::line; };
  const auto complete = [&](std::size_t e) { return e < order.size() && topology.wiring(order[e]) == Wiring::complete; };
  const auto at = [&](std::size_t e) { return topology.coordinate(source, order[e]); };
  const auto spread = [&](std::size_t e, const std::vector<std::int32_t>& places) {
    if (complete(e)) return places.size() > 1 ? LineSpread::over_complete(extent(e)) : LineSpread::over_ring(1);  // h = 1: all or one
    return line(e) ? LineSpread::on_line(places, extent(e), at(e)) : LineSpread(places, extent(e), ways);
  };
  const auto spread_over_all = [&](std::size_t e, std::int32_t root) {
    if (complete(e)) return LineSpread::over_complete(extent(e));
    return line(e) ? LineSpread::over_line(extent(e), modulo(at(e) + root, extent(e))) : LineSpread::over_ring(extent(e), ways);
  };
  const auto classes = [&](std::size_t e, std::int32_t pieces) {
    if (complete(e) && pieces > 1) return RowClasses::on_complete(extent(e));
    return line(e) ? RowClasses::on_line(extent(e), pieces, at(e)) : RowClasses(extent(e), pieces, ways);
  };
  std::int32_t ahead = ways == Ways::both ? h / 2 : h - 1;
  if (line(l + 1)) ahead = std::clamp(ahead, h - 1 - std::min(h - 1, at(l + 1)), extent(l + 1) - 1 - at(l + 1));
  Part part{{}, 0, 1, {}, classes(l, h), LineSpread::over_ring(1), {}, {}, ahead};
  for (std::size_t e = 0; e < l; ++e) part.levels.push_back({spread_over_all(e, 0), classes(e, extent(e)), 0});
  std::vector<std::int32_t> columns;
  for (std::int32_t piece = 0; piece < h; ++piece) columns.push_back(column_of(part, piece, extent(l + 1)));
  part.scatter = spread(l + 1, columns);
  for (std::int32_t piece = 0; piece < h; ++piece) part.columns.push_back(spread(l, part.classes.places_of(piece)));
  for (std::size_t e = l + 1; e < order.size(); ++e) {
    std::vector<LineSpread>& rows = part.rows.emplace_back();
    const bool by_piece = e == l + 1 && line(e);
    for (std::int32_t piece = 0; piece < (by_piece ? h : 1); ++piece)
      rows.push_back(spread_over_all(e, by_piece ? columns[static_cast<std::size_t>(piece)] : 0));
  }
  part.order = std::move(order);
  return part;
}

void SwathSchedule::add_phase(Stage stage, std::size_t along, Step steps) {
  const Step begin = this->steps();
  if (steps > 0) phases_.push_back({stage, along, begin, begin + steps});
}

Bytes SwathSchedule::table_bytes() const noexcept {
  Bytes bytes = 0;
  const auto add = [&](const LineSpread& spread) { bytes += sizeof spread + static_cast<Bytes>(spread.places()) * sizeof(std::int32_t); };
  for (const Part& part : parts_) {
    bytes += sizeof part + part.order.size() * sizeof(Dimension);
    for (const Part::Level& level : part.levels) {
      bytes += sizeof level;
      add(level.scatter);
    }
    add(part.scatter);
    std::for_each(part.columns.begin(), part.columns.end(), add);
    for (const std::vector<LineSpread>& rows : part.rows) std::for_each(rows.begin(), rows.end(), add);
  }
  return bytes + phases_.size() * sizeof(Phase);
}

namespace {

struct Load {
  Bytes bytes = 0;
  std::uint64_t hops = 0;
  void raise(Bytes b, std::int32_t h) {
    bytes = std::max(bytes, b);
    hops = std::max<std::uint64_t>(hops, static_cast<std::uint64_t>(std::abs(h)));
  }
};

std::int32_t hops_of(const LineSpread& spread, const LineSpread::StretchSend& send) {
  return spread.ways() == Ways::complete ? 1 : send.hops;
}

/// What the steps of a gather cost. Where a piece's places lie `gap` apart, it goes from either side to the middle between them: whole in
/// the steps below gap/2, in halves in step gap/2; forward only: whole, in the steps below gap. weigh(piece, halves): the bytes of
/// `halves` halves of a piece; no more for a later piece.
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
          [&](Step step, const LineSpread::StretchSend& send) { loads[begin + step].raise(weigh(block, piece), hops_of(spread, send)); });
    };
    const auto add_scatter = [&](const LineSpread& spread, Step begin, std::uint64_t stride, auto&& piece_at) {
      spread.for_all_sends([&](Step step, const LineSpread::StretchSend& send) {
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
