/// Minimum spanning tree broadcast, conflict-free: in each step every holder j sends to j XOR 2^i, the most significant bit first.
/// First the column of the root is covered, then each row by itself; in a line the routes of a step are disjoint.
/// Machine  wormhole, 1 port, meshes and tori (whose wrap-around links it leaves alone), extents powers of two, any number of dimensions.
///          Where all are 1 or 2, packet switching will do.
/// Steps    log2 p on p nodes: the fewest of any one-port broadcast. Each carries the whole message.
/// Header   none: the least significant bit in which a node differs from the root brings the message.   Memory  O(1) a node.
/// Source   Barnett, Payne, van de Geijn & Watts, "Conflict-Free Hypercube-Like Mesh Algorithm".
#pragma once

#include <torus/algorithm.hpp>

namespace torus::broadcast {

extern const Algorithm mst;

Program mst_program(Node& self, NodeId root);

}  // namespace torus::broadcast
