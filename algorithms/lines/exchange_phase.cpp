#include "algorithms/lines/exchange_phase.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "algorithms/common/shapes.hpp"

namespace torus::lines {

std::vector<NodeId> ranks_over(const Topology& topology, std::span<const Dimension> dimensions, Order order) {
  std::vector<NodeId> ranks{0};
  for (const Dimension d : dimensions) {
    std::vector<NodeId> more;
    more.reserve(ranks.size() * static_cast<std::size_t>(topology.extent(d)));
    for (std::int32_t place = 0; place < topology.extent(d); ++place) {
      for (const NodeId rank : ranks) more.push_back(rank + static_cast<NodeId>(place) * topology.stride(d));
      if (order == Order::snake) std::reverse(ranks.begin(), ranks.end());
    }
    ranks = std::move(more);
  }
  return ranks;
}

ExchangePhase::ExchangePhase(const Topology& topology, Dimension d, std::span<const Dimension> earlier)
    : dimension_{d},
      line_{topology.shape()[static_cast<std::size_t>(d)]},
      stride_{topology.stride(d)},
      before_(earlier.begin(), earlier.end()),
      earlier_{ranks_over(topology, earlier)} {}

ExchangePhase::ExchangePhase(std::shared_ptr<const NodeCycle> cycle)
    : dimension_{0},
      line_{{static_cast<std::int32_t>(cycle->ranks.size()), Wiring::ring}},
      stride_{1},
      earlier_{0},
      cycle_{std::move(cycle)} {}

Leg ExchangePhase::leg(const Topology& topology, NodeId rank, std::int32_t offset) const noexcept {
  if (!cycle_) return {dimension_, line_.hops(offset)};
  const NodeId to = part(modulo(place(topology, rank) + offset, line_.places()));
  Dimension d = 0;
  while (topology.coordinate(rank, d) == topology.coordinate(to, d)) ++d;
  const std::int32_t n = topology.extent(d), hops = topology.coordinate(to, d) - topology.coordinate(rank, d);
  if (topology.wiring(d) == Wiring::complete) return {d, modulo(hops, n)};
  return {d, hops == 1 || (hops == 1 - n && n > 2) ? +1 : -1};
}

NodeId ExchangePhase::earlier_part(const Topology& topology, NodeId rank) const noexcept {
  NodeId sum = 0;
  for (const Dimension d : before_) sum += static_cast<NodeId>(topology.coordinate(rank, d)) * topology.stride(d);
  return sum;
}

std::vector<Dimension> gathering_order(const Topology& topology) {
  const auto heard = [&](Dimension d) {
    const PairedLine line(topology.shape()[static_cast<std::size_t>(d)]);
    std::int64_t sum = 0;
    for (std::int32_t step = 0; step < line.steps(); ++step) sum += line.longest_gathered(step);
    return sum;
  };
  std::vector<Dimension> order = linked_dimensions(topology);
  std::stable_sort(order.begin(), order.end(), [&](Dimension a, Dimension b) {
    if (topology.twisted()) return topology.extent(a) > topology.extent(b);
    return heard(a) * (topology.extent(b) - 1) > heard(b) * (topology.extent(a) - 1);
  });
  return order;
}

namespace {

bool even_side(const Topology& topology, Dimension d) { return topology.extent(d) % 2 == 0; }
bool closes(const Topology& topology, Dimension d) { return topology.wiring(d) != Wiring::line; }

}  // namespace

bool has_node_cycle(const Topology& topology) {
  const std::vector<Dimension> linked = linked_dimensions(topology);
  return linked.size() > 1 && !topology.twisted() &&
         std::any_of(linked.begin(), linked.end(), [&](Dimension d) { return even_side(topology, d) || closes(topology, d); });
}

NodeCycle node_cycle(const Topology& topology) {
  std::vector<Dimension> linked = linked_dimensions(topology);
  auto side = std::find_if(linked.begin(), linked.end(), [&](Dimension d) { return even_side(topology, d); });
  const bool even = side != linked.end();
  if (!even) side = std::find_if(linked.begin(), linked.end(), [&](Dimension d) { return closes(topology, d); });
  const NodeId rows = static_cast<NodeId>(topology.extent(*side)), stride = topology.stride(*side);
  linked.erase(side);
  const std::vector<NodeId> columns = ranks_over(topology, linked, Order::snake);
  const std::size_t last = columns.size() - 1;
  NodeCycle cycle;
  const auto add = [&](NodeId row, std::size_t column) { cycle.ranks.push_back(row * stride + columns[column]); };
  if (even) {
    for (NodeId row = 0; row < rows; ++row) add(row, 0);
    for (NodeId row = rows; row-- > 0;) {
      for (std::size_t i = 1; i <= last; ++i) add(row, row % 2 != 0 ? i : last + 1 - i);
    }
  } else {
    add(0, 0);
    for (std::size_t column = 0; column <= last; ++column) {
      for (NodeId i = 1; i < rows; ++i) add(column % 2 == 0 ? i : rows - i, column);
    }
    for (std::size_t column = last; column > 0; --column) add(0, column);
  }
  cycle.places.resize(cycle.ranks.size());
  for (std::size_t place = 0; place < cycle.ranks.size(); ++place) cycle.places[cycle.ranks[place]] = static_cast<std::int32_t>(place);
  return cycle;
}

}  // namespace torus::lines
