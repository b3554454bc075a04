/// Lower bounds of reductions, scatter, gather and barrier.
#pragma once

#include <torus/bounds.hpp>

namespace torus {

/// Bounds of the collectives that no message is replicated or exchanged in. c_v = min(ports, channels of node v), N nodes, m bytes of the
/// whole vector, b of a node's block.
///
/// Steps. Some node's data must come to all, or all nodes' data to one, which is the same backwards: ceil(log_{p+1} N), more where border
/// nodes have fewer channels than ports (see lower_bounds()). Packet switching: also the diameter; reduce, scatter, gather: the
/// eccentricity of the root. The blocks of scatter and gather one by one, over c_root channels a step: the N_e blocks of nodes at distance
/// e or more have left the root by step T - e + 1, so T >= e - 1 + ceil(N_e / c_root).
/// Bytes.
///  - Reduce-scatter: the weakest node must give away, and take in, what it does not own: m (N-1)/N over c channels.
///  - All-reduce: for each element at least 2 (N-1) messages carry it. Put the messages in an order that keeps the steps. Until the first
///    node knows the result, each of the N-1 others has sent at least once; then each of them must still receive. So 2 (N-1) m over the
///    sum of all c_v. And m over the channels of the weakest node, each way; and m over each cut, each way.
///  - Reduce: m over c_root; (N-1) m over the sum of all c_v; m over the weakest node's.
///  - Scatter, gather: (N-1) b over c_root, and for the middle cuts the blocks beyond over the links.
///  - Scan: m over the weakest node's. Barrier: none.
/// Where dimensions differ in speed, the bytes take at least as long as on the fastest.
/// Combining: N-1 combinations of m bytes in all, so the busiest nodes combine m (N-1)/N at least, summed over the steps; a reduce's the
/// same.
/// Specific to reductions: Patarasuk & Yuan 2009 for m (N-1)/N with one port; the rest is this project's.
void bound_reduction(const Machine& machine, const Request& request, Bounds& bounds);

}  // namespace torus
