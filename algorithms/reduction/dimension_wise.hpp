/// Reduce-scatter, all-reduce and multi-node broadcast with one port: one dimension after the other, in each of them once along each of its
/// lines.
///
/// In phase d a node has the blocks of the owners that share its coordinates in the dimensions before d, and gives away those of every
/// other place on its line. Ring: to the next node, the blocks of the place farthest ahead first. Line: the same for the places ahead, then
/// by the other way for those behind. Complete: straight to each place. An all-reduce then runs the steps backwards, replacing.
/// Machine  any mix of rings, lines and complete dimensions; packet (single hops), one port, no channel shared.
/// Steps    for a half: sum of a ring's n-1, a line's 2 (n-1), a complete dimension's n-1.
/// Bytes    m (N-1)/N for a half on rings and complete dimensions, which is optimal with one port.   Memory  N blocks' ids a node.
/// Source   folklore; optimal on tori by Patarasuk & Yuan (2009).
#pragma once

#include <torus/algorithm.hpp>

namespace torus::reduction {

extern const Algorithm dimension_wise_reduce_scatter;
extern const Algorithm dimension_wise_allreduce;
extern const Algorithm dimension_wise_all_gather;

}  // namespace torus::reduction
