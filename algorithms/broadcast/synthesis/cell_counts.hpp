/// How many nodes of each cell (line along the last dimension) are informed before each step of a wormhole broadcast in dimension order.
///
/// A step makes at most three of an informed node within its cell, and each informed node sends two messages along each other dimension:
/// those go where most nodes would be missing at the end if the cells grew by themselves from then on.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <torus/topology.hpp>

namespace torus::broadcast {

/// By step, and by cell: nodes informed before it. The last row is what all steps inform: all nodes.
using CellCounts = std::vector<std::vector<std::int32_t>>;

/// Counts that fill all cells in so many steps from `root`; none if this rule finds none. `reserve` in 0..1: the share of
/// the messages between cells that is left unused, so that the places can be found more easily. `idle`: of the root's cell, how many
/// messages along it find nobody in a step, since the root stands at an end or near it. `order`: by cell, least first among
/// equals.
std::optional<CellCounts> cell_counts(const Topology& topology, Dimension last, NodeId root, std::uint32_t steps, double reserve,
                                      std::int32_t idle, std::span<const std::uint64_t> order);

}  // namespace torus::broadcast
