/// Reduce-scatter, all-reduce and multi-node broadcast along the rings, lines and complete dimensions of a machine, all of them at work at
/// once.
///
/// An owner's block is cut into k parts. In phase f part t goes along axis (t + f) mod k: there each node gives the blocks of every other
/// place on its line away, the farthest first, by the shorter way; they are combined on their way, and the place that owns them combines
/// them with its own. In the next phase a node has only the blocks of owners that share its coordinate there. An all-reduce then runs the
/// steps backwards, replacing; a multi-node broadcast is that half alone. Sides of different reach: each bundle is cut into chunks, so that
/// all axes take the steps of the longest.
/// Machine  any mix of rings, lines and complete dimensions; packet (single hops), all ports, no channel shared. `rings-single`: one part,
///          which takes one axis after the other; with one port on a machine of lines of 2.
/// Steps    k L for a half, L the longest reach: a ring's floor(n/2), a line's n-1, a complete dimension's 1. One part: the sum of them.
/// Bytes    m (N-1)/(2kN) for a half on tori of equal sides, which is optimal.   Memory  N segments a node.
/// Source   the bucket algorithm (Barnett, Littlefield, Payne & van de Geijn 1993; on tori Jain & Sabharwal 2010), both ways round here, in
///          half as many steps; the chunks are this project's.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::reduction {

extern const Algorithm rings_reduce_scatter;
extern const Algorithm rings_allreduce;
extern const Algorithm rings_all_gather;
extern const Algorithm rings_single_reduce_scatter;
extern const Algorithm rings_single_allreduce;
extern const Algorithm rings_single_all_gather;

}  // namespace torus::reduction
