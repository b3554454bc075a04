/// The twisted torus: what a hop over the end of a short dimension does, and distances that follow. What topology.hpp does not declare.
#pragma once

#include <torus/topology.hpp>

namespace torus::detail {

/// Throws InputError on a shape that cannot be twisted.
void check_twist(const Topology& topology);
Coordinates twisted_offsets(const Topology& topology, NodeId from, NodeId to) noexcept;
/// O(nodes).
std::int32_t twisted_diameter(const Topology& topology) noexcept;

}  // namespace torus::detail
