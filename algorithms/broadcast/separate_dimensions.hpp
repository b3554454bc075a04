/// Broadcast in one dimension after the other, last dimension first: the row of the root by recursive halving, then all columns, ..
/// Every message stays in its line, so no two messages share a channel, whatever the extents and the routing order.
/// Machine  wormhole, 1 port, meshes and tori (without their wrap-around links) of any extents and any number of dimensions.
///          Packet switching does where all extents are 1 or 2.
/// Steps    sum over d of ceil(log2 n_d): at most k - 1 more than recursive splitting of the whole machine. Each carries the whole message.
/// Header   none.   Memory  O(1) a node.
/// Source   Barnett, Payne, van de Geijn & Watts, "Separating Dimension".
#pragma once

#include <torus/algorithm.hpp>

namespace torus::broadcast {

extern const Algorithm separate_dimensions;

}  // namespace torus::broadcast
