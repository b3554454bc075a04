/// Lower bounds from cuts: what must cross between a set of living nodes and the others, over what the channels between them carry.
///
/// Let S be a set of living nodes, not all and not none, of k of the n. Data that starts in S and is wanted outside leaves it in messages
/// that a node of S sends and a node outside receives, and each of them crosses a channel out of S. In a step with at most L bytes on a
/// channel, no more than L * c(S) bytes leave S so, with c(S) = min(channels out of S, ports * k, ports * (n - k)); as many enter, since a
/// link has a channel each way. So the sum over the steps of the most bytes on a channel is at least D(S) / c(S), with D(S) the bytes that
/// must leave S or those that must enter it, the larger. In seconds: common/link_rates.hpp, with the rates of the channels of the cut.
/// What must cross, in messages, vectors or blocks of the request's bytes:
///  - Broadcast: 1. The source is on one side and a node that wants the message on the other. Reduce: 1. The combination of what is on the
///    side without the root must leave it, and its values may be any. All-reduce, scan: 1. The same, with any node of the other side; with
///    the first node's vector, which all others want.
///    The cut with the fewest channels gives the bound of Edmonds (Edge-disjoint branchings, 1973): the least max flow from the source.
///    (An all-reduce whose parts could cross twice is no better for it: one vector leaves S, one enters it, over channels of their own.
///    What a partition into more parts must carry is in reduction_bounds.cpp, for single nodes.)
///  - Multi-node broadcast: the sources in S leave it. Reduce-scatter: n - k blocks, one combination for each node outside.
///  - Scatter, gather: a block for each node on the side without the root.
///  - Total exchange: k (n - k).
/// Single-block steps of multi-node broadcast and total exchange, where no channel is shared: c(S) messages a step cross, each of one
/// block.
///
/// Which S are tried, where channels are dead or slow:
///  - each node (of more than 2^20, those that a fault touches);
///  - on machines up to 2^20 nodes all intervals of layers of each dimension (of more than 256 layers, of 256 groups of them);
///  - where nodes times channels are at most 2^22 (where all nodes send to all, 2^18), what max flows find (flow_cuts.hpp): of all sets the
///    best, but for ports fewer than channels and total exchange.
/// Elsewhere, where dimensions differ in speed: the halves of each dimension, O(dimensions). At one speed they give no more than single
/// nodes do.
#pragma once

#include <torus/bounds.hpp>

namespace torus {

/// Raises the bounds of bytes, of seconds and of single-block steps. Two living nodes or more, and a source.
void bound_cuts(const Machine& machine, const Request& request, Bounds& bounds);

}  // namespace torus
