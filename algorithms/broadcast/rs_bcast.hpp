/// Recursive splitting broadcast (RSbcast): the nodes as one linear array, of which every holder gives half of its part away in each step,
/// to a place chosen so that no two routes of a step share a channel (see axis.hpp).
/// Machine  wormhole, 1 port, meshes and tori (whose wrap-around links it leaves alone) of any extents and any number of dimensions.
/// Steps    ceil(log2 p) on p nodes: the fewest of any one-port broadcast. Each carries the whole message.
/// Header   none: from the root's rank and its own each node knows the part that it is given, and so the step.   Memory  O(1) a node.
/// Source   Barnett, Payne, van de Geijn & Watts, "Avoiding Network Conflicts on General Meshes", "Recursive Splitting Broadcast".
#pragma once

#include <torus/algorithm.hpp>

namespace torus::broadcast {

extern const Algorithm rs_bcast;

}  // namespace torus::broadcast
