/// Multi-node broadcast over the DDNs and DCNs with ring pipelines: the paper's partition, all links in use, and no prefix sum.
///
/// Each message is k parts, or k for each of h pieces. Messages gather on the nodes whose coordinates are congruent modulo h (aggregate),
/// are distributed over the h DDNs by a rank computed from the coordinates (tune; left out with --prefix none), or a piece of each to every
/// DDN (--prefix split: as many steps, and all DDNs have as much for any sources; the choice follows from how many are assumed), and go
/// round the DDNs' rings, part t along dimension t first (ddn-rings). Then each DDN node has its DDN's whole bundle, sorts it, and
///   hierarchical      cuts part t over the window of h^(k-1) nodes across dimension t (scatter), and the h x .. x h torus modulo h gathers
///                     it again over all dimensions (dcn-rings): 1 + 2/h of the byte bound, and O(sqrt n) steps for h ~ sqrt(n);
///   hierarchical-log  (2-D) spreads part 0 along the row and part 1 along the column (dcn-broadcast), then both go round the rings
///                     modulo h of the other dimension: fewer steps, more bytes.
/// Messages go round the rings in parts; on unequal sides whole, one dimension after the other (together), where that is faster. 2-D tori
/// take an h that does not divide every side, too: uneven.hpp. By default nothing is tuned if all nodes are assumed to be sources, or if
/// that is faster even with all messages in one DDN.
/// Machine  torus of any dimension, h | every side (2-D: any h up to the shorter), wormhole in any routing order, all ports, no channel
///          shared.
/// Memory   O(s k) words a node, split: O(s k h).
/// Steps    L5(h) [k > 2: (k-1) L3(h)] + tune + k floor(longest q / 2) + (k-1) L3(h) + k floor(h/2); -log: .. + L3(h) + floor(h/2).
///          Together: the sum of floor(q / 2) for k floor(longest q / 2). An h that does not divide every side: uneven.hpp.
///          h = 1: k floor(longest side / 2), k the dimensions wider than 1; a single ring allows no other h.
/// Header   see tune; none for h <= 5.   Source  this project, on the partition of Chen, Chen & Tseng.
#pragma once

#include <torus/algorithm.hpp>

#include "algorithms/multinode_broadcast/hierarchy.hpp"

namespace torus::multinode {

extern const Algorithm hierarchical;
extern const Algorithm hierarchical_log;

Program hierarchical_program(Node& self, const Hierarchy& scheme);

}  // namespace torus::multinode
