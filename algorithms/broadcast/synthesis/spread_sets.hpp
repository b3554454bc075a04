/// Sets of nodes that lie evenly over a machine, or over a set of nodes: those that the searches try.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include <torus/topology.hpp>

namespace torus::broadcast {

/// Few nodes that represent many: a set of nodes is cut recursively across its longest extent into parts of equal size, and each part is
/// represented by the member nearest to its median. Long thin tori need that balance, since all messages leave a stretch of a ring by two
/// links.

/// `count` of the nodes, ascending. `shift`: the place where each ring is cut open, a coordinate a dimension.
std::vector<NodeId> balanced_partition(const Topology& topology, std::span<const NodeId> nodes, std::size_t count,
                                       const Coordinates& shift);

/// A random place to cut each ring.
Coordinates random_shift(const Topology& topology, std::mt19937_64& random);

/// The set, ascending, with a node that must be in it: it replaces the member nearest to it.
std::vector<NodeId> with_node(const Topology& topology, std::vector<NodeId> nodes, NodeId node);

/// Nodes spread as evenly over a torus as integers allow: the `count` nodes x with the smallest fractional part of sum p_i x_i / n_i.
///
/// With p_i = n_i j_i / (2k+1), the j_i distinct in 1..k, that is the perfect code of Lee distance 1 (x + 2y = 0 mod 5, x + 2y + 3z = 0 mod
/// 7) where it exists, and its smooth deformation where the extents are no multiples.

/// A multiplier for each dimension.
using Multipliers = std::vector<std::int32_t>;

/// At most `count` multipliers near n_i j_i / q for q = 2k+1 and q = ports+1, the nearest first. Costs up to k! of
/// them.
std::vector<Multipliers> nearest_multipliers(const Topology& topology, std::int32_t ports, std::size_t count);

/// `count` multipliers to try on a torus, the most promising first: the nearest, then random ones.
std::vector<Multipliers> promising_multipliers(const Topology& topology, std::int32_t ports, std::size_t count, std::mt19937_64& random);

/// Random multipliers 0..n_i-1.
Multipliers random_multipliers(const Topology& topology, std::mt19937_64& random);

/// The nodes, ascending, coordinates counted from `centre`, which usually is one of them. O(N).
std::vector<NodeId> quasi_lattice(const Topology& topology, const Multipliers& multipliers, std::size_t count, NodeId centre = 0);

}  // namespace torus::broadcast
