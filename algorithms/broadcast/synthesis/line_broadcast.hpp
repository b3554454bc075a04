/// The broadcast on a line in the fewest steps there can be, written down and not searched for.
///
/// One port     The line is halved again and again: ceil(log2 N) steps from any root.
/// More ports   A circuit that passes an informed node may as well start there, and of several to one side only one gets away. So in a step
///              a gap between two informed nodes loses two nodes at most, one to each side's circuit, and falls into three gaps; the gap at
///              an end of the line loses one and falls into two. By induction t steps close a gap of up to 3^t - 1 nodes, at an end of up
///              to (3^t - 1) / 2, and even cuts do reach that: the fewest t with which the longer side of the root is closed.
///
/// With several ports that is at most a step more than counting says: counting lets the side that is done first help the other.
#pragma once

#include <vector>

#include "algorithms/broadcast/circuit/circuit_flow.hpp"

namespace torus::broadcast {

/// Whether all nodes stand in one row, and that row is a line.
bool is_line(const Topology& topology);

/// Circuits of each step. The topology is a line.
std::vector<std::vector<Circuit>> line_broadcast(const Topology& topology, std::int32_t ports, NodeId root);

}  // namespace torus::broadcast
