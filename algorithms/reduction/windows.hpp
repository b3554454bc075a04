/// All-reduce and barrier in the fewest steps of all, on any number of nodes: windows of ranks that grow (p+1)-fold a step.
///
/// After a step a node has the sum of the ranks that end with its own, round the circle of all ranks: a window. In the next it takes p more
/// windows from behind, end to end, and each contributor once, because some of them are taken without their last rank: window_rounds.
/// Messages go the shortest way, across each other.
/// Machine  any shape, wormhole, shared channels, any number of ports; more than 8 of them are not used, as a channel's queue at the
///          receiver takes 8 messages a step.
/// Steps    ceil(log_{p+1} N), which is optimal.   Header  none.   Memory  2 vectors a node, and those that it has on their way: one a
/// port. Bytes    m for each message on the fullest channel of a step, which plan() counts, in O(N) memory. Barrier  the same messages
/// without blocks: 0 bytes. Source   Bruck & Ho 1993.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::reduction {

extern const Algorithm windows_allreduce;
extern const Algorithm windows_barrier;

}  // namespace torus::reduction
