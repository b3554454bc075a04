/// Reduce-scatter, all-reduce and multi-node broadcast once round all nodes, in the order of their ranks: each segment goes the long way to
/// its owner, and every node on the way adds its contribution. In an all-reduce the result goes round once more. A baseline: any shape, one
/// port.
///
/// No two messages of a step meet: the way from a rank to the next enters a line of the last dimension at its first node, and only where
/// the other nodes of that line send nothing over the channels that it takes.
/// Machine  any; wormhole, one port, no channel shared; one dimension of rings or complete: packet.
/// Steps    N-1 for a half.   Bytes  m (N-1)/N for a half, which is optimal with one port.   Memory  O(1) a node.
/// Source   folklore; optimal by Patarasuk & Yuan (2009).
#pragma once

#include <torus/algorithm.hpp>

namespace torus::reduction {

extern const Algorithm ring_reduce_scatter;
extern const Algorithm ring_allreduce;
extern const Algorithm ring_all_gather;  // `ring-by-rank`: `ring` goes round the rings of the dimensions

}  // namespace torus::reduction
