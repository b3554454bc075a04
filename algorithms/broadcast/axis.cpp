#include "algorithms/broadcast/axis.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace torus::broadcast {

Axis::Axis(const Machine& machine, std::vector<Dimension> order, Target target) : order_{std::move(order)}, places_{1}, target_{target} {
  for (const Dimension d : order_) places_ *= static_cast<Place>(machine.topology.extent(d));
}

Axis Axis::along(const Machine& machine, Dimension dimension) { return {machine, {dimension}, Target::near}; }

Axis Axis::linear_array(const Machine& machine) {
  const bool descending = std::is_sorted(machine.routing.begin(), machine.routing.end(), std::greater<>{});
  if (machine.ascending_routing() || !descending) return {machine, machine.routing, Target::near};
  std::vector<Dimension> by_rank(machine.routing.size());
  std::iota(by_rank.begin(), by_rank.end(), 0);
  return {machine, std::move(by_rank), Target::far};
}

Place Axis::place(const Topology& topology, NodeId node) const noexcept {
  Place place = 0;
  for (const Dimension d : order_) {
    place = place * static_cast<Place>(topology.extent(d)) + static_cast<Place>(topology.coordinate(node, d));
  }
  return place;
}

Route Axis::route(const Machine& machine, NodeId from, Place to) const {
  Coordinates hops(static_cast<std::size_t>(machine.topology.dimensions()), 0);
  for (auto d = order_.rbegin(); d != order_.rend(); ++d) {
    const auto extent = static_cast<Place>(machine.topology.extent(*d));
    hops[static_cast<std::size_t>(*d)] = static_cast<std::int32_t>(to % extent) - machine.topology.coordinate(from, *d);
    to /= extent;
  }
  Route route;
  for (const Dimension d : machine.routing) {
    if (const std::int32_t h = hops[static_cast<std::size_t>(d)]; h != 0) route.push_back({d, h});
  }
  return route;
}

}  // namespace torus::broadcast
