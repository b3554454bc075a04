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
#pragma once

#include <vector>

#include "algorithms/broadcast/circuit/circuit_flow.hpp"

namespace torus::broadcast {

/// Whether all nodes form one row, and that row is a line.
bool is_line(const Topology& topology);

/// Circuits of each step. The topology is a line.
std::vector<std::vector<Circuit>> line_broadcast(const Topology& topology, std::int32_t ports, NodeId root);

}  // namespace torus::broadcast
