/// Broadcast down as many arc-disjoint spanning trees as the machine has room for, found by search around its holes: the message is split
/// into k K segments, dealt out to k trees, K each. In each of the first K steps the root sends the next segment of every tree; a node
/// passes a segment on in the step after it came.
///
/// Machine  packet (single hops), all ports, any topology, with dead links and nodes too, up to a size; no channel shared. All nodes know
///          the machine, its holes and the root, and so the trees.
/// Memory   6 k bytes a node of tables.
/// Steps    H + K - 1, H the height of the trees.
/// Bytes    m T_c / k in all, times 1 + (H-1)/K: k is the least cut between the root and a living node (Edmonds), so this is the bound of
///          long messages, on meshes and on machines with holes too.   Header  none.
/// Source   the trees: packed_trees.hpp; pipelining over them as in edst_broadcast.hpp.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::broadcast {

extern const Algorithm tree_packing;

}  // namespace torus::broadcast
