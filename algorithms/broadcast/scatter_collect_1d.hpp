/// Scatter-collect broadcast on one ring of all nodes: the linear array of rs-bcast, halved with the message, then closed (see
/// scatter_collect.hpp).
/// Machine  wormhole, 1 port, meshes and tori (whose wrap-around links it leaves alone) of any extents and any number of dimensions, at
/// most 65535
///          nodes.
/// Steps    ceil(log2 p) + p - 1 on p nodes; the model time is that many T_s + 2 (p-1)/p n T_c where p divides n. For long messages.
/// Header   none.   Memory  O(1) a node beside the names of its p pieces, a table of p block ids for all.
/// Source   Barnett, Payne, van de Geijn & Watts, "1-D Scatter-Collect".
#pragma once

#include <torus/algorithm.hpp>

namespace torus::broadcast {

extern const Algorithm scatter_collect_1d;

}  // namespace torus::broadcast
