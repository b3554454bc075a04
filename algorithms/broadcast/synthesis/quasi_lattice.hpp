/// Nodes spread as evenly over a torus as integers allow: the `count` nodes x with the smallest fractional part of sum p_i x_i / n_i.
///
/// With p_i = n_i j_i / (2k+1), the j_i distinct in 1..k, that is the perfect code of Lee distance 1 (x + 2y = 0 mod 5, x + 2y + 3z = 0 mod
/// 7) where it exists, and its smooth deformation where the extents are no multiples.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include <torus/topology.hpp>

namespace torus::broadcast {

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
