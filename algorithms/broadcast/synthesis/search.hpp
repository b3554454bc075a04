/// What both searches share: the largest machine, the rule of simulated annealing, the line, which needs no search, and the sets of nodes
/// that they try.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <torus/algorithm.hpp>
#include <torus/topology.hpp>

#include "algorithms/broadcast/circuit/schedule.hpp"

namespace torus::broadcast {

/// Why a machine is too large; none if it is not.
std::optional<Refusal> too_large_to_search(std::string_view algorithm, const Topology& topology);

/// Whether simulated annealing takes a change: always one that leaves no more nodes unserved, else the less likely the more it leaves.
bool anneal(std::size_t unserved_before, std::size_t unserved_after, std::mt19937_64& random);

/// Whether all nodes form one row, and that row is a line.
bool is_line(const Topology& topology);

/// The broadcast on a line in the minimum number of steps, in closed form.
///
/// One port     The line is halved repeatedly: ceil(log2 N) steps from any root.
/// More ports   A circuit that passes an informed node can as well start there, and only one circuit can leave a node to one side. So
///              a step takes at most two nodes from a gap between two informed nodes, one by each side's circuit, and leaves three gaps.
///              It takes one from the gap at an end of the line, and leaves two. By induction t steps close a gap of up to 3^t - 1 nodes,
///              at an end of up to (3^t - 1) / 2. Even cuts reach that. The steps are the minimum t that closes the longer side of the
///              root.
///
/// With several ports that is at most one step above the bound by counting, which lets the side that is finished first help the other.
/// Circuits of each step. The topology is a line.
std::vector<std::vector<Circuit>> line_broadcast(const Topology& topology, std::int32_t ports, NodeId root);

/// Sets of nodes that lie evenly over a machine, or over a set of nodes: those that the searches try.

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
