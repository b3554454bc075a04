#include "algorithms/broadcast/swath_schedule.hpp"

#include <algorithm>
#include <utility>

#include <torus/block.hpp>

#include "algorithms/common/linked_dimensions.hpp"

namespace torus::broadcast {
SwathSchedule::SwathSchedule(const Topology& topology, std::int32_t h) : h_{h} {
  const std::vector<Dimension> linked = linked_dimensions(topology);
  const std::size_t k = linked.size();
  if (k == 0) return;
  direct_ = h > 1 && std::all_of(linked.begin(), linked.end(), [&](Dimension d) { return topology.extent(d) == h; });
  Step column_steps = 0, row_steps = 0, gather_steps = 0;
  for (std::size_t j = 0; j < k; ++j) {
    std::vector<Dimension> order;
    for (std::size_t e = 0; e < k; ++e) order.push_back(linked[(j + e) % k]);
    const std::int32_t n = topology.extent(order[0]);
    const std::int32_t m = topology.extent(order[k > 1 && !direct_ ? 1 : 0]);  // of the scatter
    std::vector<std::int32_t> columns;
    for (std::int32_t piece = 0; piece < h; ++piece) columns.push_back(column_of(piece, m));
    Part part{order, RowClasses(n, h), LineSpread(columns, m), {}, {}};
    for (std::int32_t piece = 0; piece < h && !direct_; ++piece) {
      part.columns.emplace_back(part.classes.places_of(piece), n);
      column_steps = std::max(column_steps, part.columns.back().steps());
    }
    for (std::size_t e = 1; e < k; ++e) {
      part.rows.push_back(LineSpread::over_ring(topology.extent(order[e])));
      row_steps = std::max(row_steps, part.rows.back().steps());
    }
    gather_steps = std::max(gather_steps, part.classes.gather_steps());
    if (!part.classes.pieces_stay_whole()) blocks_of_piece_ = 2;
    parts_.push_back(std::move(part));
  }
  add_phase(Stage::scatter, k > 1 && !direct_ ? 1 : 0, parts_.front().scatter.steps());
  add_phase(Stage::columns, 0, column_steps);
  for (std::size_t e = 1; e < k; ++e) add_phase(Stage::rows, e, row_steps);
  add_phase(Stage::gather, 0, gather_steps);
}

void SwathSchedule::add_phase(Stage stage, std::size_t along, Step steps) {
  const Step begin = this->steps();
  phases_.push_back({stage, along, begin, begin + steps});
}

std::uint32_t SwathSchedule::segments() const noexcept { return std::max(1U, first_block(parts_.size(), 0)); }

Bytes SwathSchedule::table_bytes() const noexcept {
  Bytes bytes = 0;
  const auto add = [&](const LineSpread& spread) { bytes += sizeof spread + static_cast<Bytes>(spread.places()) * sizeof(std::int32_t); };
  for (const Part& part : parts_) {
    bytes += sizeof part + part.order.size() * sizeof(Dimension);
    add(part.scatter);
    std::for_each(part.columns.begin(), part.columns.end(), add);
    std::for_each(part.rows.begin(), part.rows.end(), add);
  }
  return bytes + phases_.size() * sizeof(Phase);
}

std::vector<std::uint32_t> possible_swaths(const Machine& machine) {
  const std::vector<Dimension> linked = linked_dimensions(machine.topology);
  std::int32_t least = largest_extent(machine.topology);
  for (const Dimension d : linked) least = std::min(least, machine.topology.extent(d));
  std::vector<std::uint32_t> possible;
  const std::uint64_t most = most_blocks / (std::uint64_t{machine.topology.nodes()} * 2 * std::max<std::size_t>(1, linked.size()));
  for (std::int32_t h = 1; h <= least && static_cast<std::uint64_t>(h) <= std::max<std::uint64_t>(1, most); ++h) {
    if (linked.size() > 1 || h == 1 || h == least) possible.push_back(static_cast<std::uint32_t>(h));
  }
  return possible;
}

}  // namespace torus::broadcast
