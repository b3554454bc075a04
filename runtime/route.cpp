// SPDX-License-Identifier: MIT
#include "runtime/route.hpp"

namespace torus {

Route shortest_route(const Topology& topology, NodeId from, NodeId to, std::span<const Dimension> order) {
  Route route;
  for (const Dimension d : order) {
    const std::int32_t hops = topology.offset(d, topology.coordinate(from, d), topology.coordinate(to, d));
    if (hops != 0) route.push_back({d, hops});
  }
  return route;
}

}  // namespace torus
