#include <string>

#include <torus/error.hpp>
#include <torus/route.hpp>

namespace torus {

Route shortest_route(const Topology& topology, NodeId from, NodeId to, std::span<const Dimension> order) {
  if (to >= topology.nodes()) {
    throw InputError("node " + std::to_string(to) + " as a destination: it must be 0 to " + std::to_string(topology.nodes() - 1) +
                     ", the ranks of " + topology.text());
  }
  Route route;
  const Coordinates apart = topology.offsets(from, to);
  for (const Dimension d : order) {
    const std::int32_t hops = apart[static_cast<std::size_t>(d)];
    if (hops != 0) route.push_back({d, hops});
  }
  return route;
}

}  // namespace torus
