/// Minimum spanning tree broadcast, naive: in each step every holder j sends to j XOR 2^i, the least significant bit first. In the step
/// of bit i of a dimension 2^i routes meet on one channel. The yardstick for `mst`, which differs only in the order of the bits.
/// Machine  wormhole, 1 port, contention shared, meshes and tori (whose wrap-around links it leaves alone), extents powers of two.
/// Steps    log2 p on p nodes; the busiest channel carries 2^i messages, (r-1) + (c-1) in all on an r x c mesh, so that the model time
///          is log2(p) T_s + (r+c-2) n T_c.
/// Header   none: the most significant bit in which a node differs from the root brings the message.   Memory  O(1) a node.
/// Source   Barnett, Payne, van de Geijn & Watts, "Naive Hypercube-Like Mesh Algorithm".
#pragma once

#include <torus/algorithm.hpp>

namespace torus::broadcast {

extern const Algorithm mst_naive;

Program mst_naive_program(Node& self, NodeId root);

}  // namespace torus::broadcast
