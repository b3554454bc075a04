/// A broadcast that was found from one node, for another.
#pragma once

#include <vector>

#include "algorithms/broadcast/circuit/circuit_flow.hpp"

namespace torus::broadcast {

/// Moves all nodes of the messages so that `origin` becomes node 0, across borders where a dimension is a line.
void move_to_node_0(const Topology& topology, NodeId origin, std::vector<std::vector<Circuit>>& steps);

}  // namespace torus::broadcast
