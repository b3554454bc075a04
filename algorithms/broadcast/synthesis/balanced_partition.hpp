/// Few nodes that represent many: a set of nodes is cut recursively across its longest extent into parts of equal size, and each part is
/// represented by the member nearest to its median. Long thin tori need that balance, since all messages leave a stretch of a ring by two
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

/// A random place to cut each ring.
Coordinates random_shift(const Topology& topology, std::mt19937_64& random);

/// The set, ascending, with a node that must be in it: it replaces the member nearest to it.
std::vector<NodeId> with_node(const Topology& topology, std::vector<NodeId> nodes, NodeId node);

}  // namespace torus::broadcast
