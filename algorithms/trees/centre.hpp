/// The middle of a machine: where the trees of an all-reduce meet.
#pragma once

#include <cstdint>
#include <limits>

#include <torus/topology.hpp>

namespace torus {

/// The living node of minimum eccentricity, the first of several. O(nodes) on whole machines, else O(nodes^2).
inline NodeId centre_of(const Topology& topology) {
  NodeId centre = 0;
  std::int32_t least = std::numeric_limits<std::int32_t>::max();
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    if (!topology.living(node)) continue;
    const std::int32_t farthest = topology.eccentricity(node);
    if (farthest >= least) continue;
    least = farthest;
    centre = node;
  }
  return centre;
}

/// Steps, one hop each, from all nodes to one and back: twice the minimum eccentricity. 0 where that takes long to find.
inline std::uint64_t least_steps_to_and_fro(const Topology& topology) {
  return topology.whole() ? 2 * static_cast<std::uint64_t>(topology.eccentricity(centre_of(topology))) : 0;
}

}  // namespace torus
