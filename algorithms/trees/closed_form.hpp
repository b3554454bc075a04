/// 2k arc-disjoint spanning trees of a k-dimensional torus, in closed form. One table serves every root: the trees of a root are those of
/// node 0, moved.
///   planar rule  2-D; height D + 2 for n x n (D = 2 floor(n/2)), D + 2 .. D + 4 for similar sides; not for every shape.
///   product      of smaller tori and rings: any dimensions, any sides >= 2; height at most the sum of the sides plus k.
/// Source   this project; the planar rule is checked before it is used.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <torus/requirements.hpp>
#include <torus/topology.hpp>

#include "algorithms/trees/arc_trees.hpp"

namespace torus {

/// The lower of the forms that are valid. A torus of at most 8 dimensions with more than one node.
ArcTrees closed_form_trees(const Topology& topology);
/// The planar rule alone; none where it does not give arc-disjoint spanning trees. Two dimensions.
std::optional<ArcTrees> planar_rule_trees(const Topology& topology);

/// Trees that a message is dealt out to: 2k, but 1 for a single node.
std::uint32_t closed_form_shares(const Topology& topology);
std::optional<Refusal> too_many_dimensions(std::string_view algorithm, const Topology& topology);
/// Memory that closed_form_trees() takes at most.
Bytes closed_form_bytes(const Topology& topology);

}  // namespace torus
