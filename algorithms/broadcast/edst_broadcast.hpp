/// Broadcast down 2k arc-disjoint spanning trees: the message is split into 2k K segments, dealt out to the trees, K each. In each of the
/// first K steps the root sends the next segment of every tree to its children there; a node passes a segment on in the step after it came.
/// No arc is in two trees, so a channel carries at most one segment a step, and no node ever has one waiting.
/// Machine  packet (single hops), all ports, tori of any extents and up to 8 dimensions of more than one node; no channel shared.
/// Memory   6 N k bytes of tables, 14 N k while they are made; O(1) a node.
/// Steps    H + K - 1, H the height of the trees: D + 2 for n x n, n >= 4. A channel carries m / 2kK bytes in each: m T_c / 2k in all,
///          the lower bound, times 1 + (H-1)/K. Best K = sqrt((H-1) m T_c / (2k T_s)); the time is then
///          (sqrt((H-1) T_s) + sqrt(m T_c / 2k))^2.
/// Header   none.
/// Source   the trees: spanning_trees.hpp; pipelining over them as in Johnsson & Ho, "Optimum Broadcasting and Personalized Communication
///          in Hypercubes".
#pragma once

#include <torus/algorithm.hpp>

#include "algorithms/common/rooted_trees.hpp"

namespace torus::broadcast {

extern const Algorithm edst_broadcast;

/// The program of a node. `trees` must outlive the run; `segments` in all, a multiple of the trees.
Program edst_broadcast_program(Node& self, const RootedTrees& trees, NodeId root, std::uint32_t segments);

}  // namespace torus::broadcast
