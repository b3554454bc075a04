#include "algorithms/broadcast/swath_schedule.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/common/linked_dimensions.hpp"

namespace torus::broadcast {
namespace {

/// The steps of the longest of some spreads; 0 if there are none.
Step most_steps(const std::vector<LineSpread>& spreads) {
  Step steps = 0;
  for (const LineSpread& spread : spreads) steps = std::max(steps, spread.steps());
  return steps;
}

}  // namespace

SwathSchedule::SwathSchedule(const Topology& topology, const SwathLayout& layout, NodeId source) : layout_{layout} {
  const std::vector<Dimension> linked = linked_dimensions(topology);
  const std::size_t k = linked.size();
  bool split = layout.forward > 0 && layout.forward < layout.parts;
  for (std::size_t j = 0; j < layout.parts; ++j) {
    std::vector<Dimension> order;
    for (std::size_t e = 0; e < k; ++e) order.push_back(linked[(layout.first + j + e) % k]);
    parts_.push_back(make_part(topology, source, std::move(order), j + layout.forward < layout.parts ? Ways::both : Ways::forward));
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

}  // namespace torus::broadcast
