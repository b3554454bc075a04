/// The middle of a machine: where the trees of an all-reduce meet, and what the way there says of their steps.
#pragma once

#include <cstdint>
#include <limits>

#include <torus/algorithm.hpp>

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

/// The offer of an algorithm whose messages go one hop a step, from all nodes to one and back: twice the minimum eccentricity; nothing
/// where that takes long to find.
inline Offer offer_to_and_fro(const Machine& machine, const Request&) {
  const Topology& topology = machine.topology;
  return {.steps = topology.whole() ? 2 * static_cast<std::uint64_t>(topology.eccentricity(centre_of(topology))) : 0};
}

/// The same from one node, the source, to all or backwards: its eccentricity.
inline Offer offer_from_one(const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  return {.steps = topology.whole() ? static_cast<std::uint64_t>(topology.eccentricity(request.sources.front())) : 0};
}

/// The same from every node to every other: the diameter.
inline Offer offer_to_all(const Machine& machine, const Request&) {
  return {.steps = machine.topology.whole() ? static_cast<std::uint64_t>(machine.topology.diameter()) : 0};
}

}  // namespace torus
