/// Recursive splitting broadcast (RSbcast): the nodes form one linear array. In each step every holder gives half of its part away, to a
/// place chosen so that no two routes of a step share a channel (see axis.hpp).
/// Machine  wormhole, 1 port, meshes and tori (without their wrap-around links) of any extents and any number of dimensions.
/// Steps    ceil(log2 p) on p nodes: the minimum for one port. Each carries the whole message.
/// Header   none: a node computes its part, and so its step, from the root's rank and its own.   Memory  O(1) a node.
/// Source   Barnett, Payne, van de Geijn & Watts, "Avoiding Network Conflicts on General Meshes", "Recursive Splitting Broadcast".
#pragma once

#include <torus/algorithm.hpp>

namespace torus::broadcast {

extern const Algorithm rs_bcast;

}  // namespace torus::broadcast
