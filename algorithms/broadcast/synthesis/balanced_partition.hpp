/// Few nodes that stand for many: a set of nodes cut recursively across its longest extent into parts of equal size, and of each part the
/// member nearest to its median. The balance is what long thin tori need, where all that leaves a stretch of a ring leaves through two
/// links.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include <torus/topology.hpp>

namespace torus::broadcast {

/// `count` of the nodes, ascending. `shift`: the place where each ring is cut open, a coordinate a dimension.
std::vector<NodeId> balanced_partition(const Topology& topology, std::span<const NodeId> nodes, std::size_t count,
                                       const Coordinates& shift);

}  // namespace torus::broadcast
