/// The ways to squeeze the informed nodes into an evenly spread lattice and to expand it from there, for 3 ports and more.
/// A variant knows its steps before it is built; of closing steps by flow it knows the minimum.
///
/// 2D, 3 and 4 ports; L(p/q) = least T with (ports+1)^T >= p/q:
///   two-line   L(m) + L(n_b) + (n_a mod 2), m = n_a less n_a mod 2: both columns of a chessboard two wide, then expand.
///              For either dimension a. Ours.
///   paper2d    L(m) + L(m/2) + L(2 n_2/m) + (n_1 mod 2), n_1 <= n_2: alternate diagonals, then expand.
///              [Wang, Tseng, Ni & Sheu, section 3.2]
///
/// 3D, and kD for `pairs`; n_1 <= n_2 <= .., m = n_1 less n_1 mod 2, T_d = L(2 floor(n_d/2)/m):
///   plan-a     1 + 3 L(m/2) + T_2 + T_3 + closing: two interleaved lattices of (m/2)^3, expand every dimension to unit gaps, close.
///              [section 4.2]
///   plan-b     1 + 3 L(m/2) + L(2 n_2/m) + L(2 n_3/m) + (n_1 mod 2): the same squeeze, one dimension finished after the other.
///              At most 4 ports. [section 4.2]
///   pairs      1 + sum over d of L(floor(n_d/2)) + closing: two nodes instead of two lattices. Any k >= 3. Ours, after [section 5].
/// The closing takes L(2^(k-1)) steps, at times one more with odd extents or few ports.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "algorithms/broadcast/circuit/schedule.hpp"

namespace torus::broadcast {

struct SqueezeVariant {
  std::string name;
  std::string formula;  ///< of the steps, closing steps aside
  std::uint64_t min_steps;
  std::function<CircuitSchedule()> build;
};

/// Dimensions of extent 2 or more, by ascending extent.
std::vector<Dimension> wide_dimensions(const Topology& topology);

/// Tori of two wide dimensions with 3 or 4 ports.
std::vector<SqueezeVariant> planar_variants(const Topology& topology, std::int32_t ports);
/// Tori of three or more wide dimensions with 3 ports or more; perhaps none. Variants with a closing only where that is small enough
/// (max_closing_nodes).
std::vector<SqueezeVariant> solid_variants(const Topology& topology, std::int32_t ports);

/// The most nodes of the torus that the flow is solved on: some seconds, and well under 1 GiB.
inline constexpr NodeId max_closing_nodes = NodeId{1} << 22U;
NodeId closing_nodes(const Topology& topology);  ///< of the torus with even extents reduced to 2

}  // namespace torus::broadcast
