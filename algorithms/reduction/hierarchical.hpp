/// Reduce-scatter and all-reduce over DDNs and DCNs: the multi-node broadcast `hierarchical`, backwards, and there and back.
///
/// The reduce-scatter is the multi-node broadcast of all nodes backwards (transfers.hpp). It ends with the aggregation backwards; an
/// all-gather behind it would begin with the aggregation: the same messages to and fro. So the all-reduce leaves both out. The result of a
/// segment is made at the node of its DDN where the ring pipelines begin, and not at its owner; what is left has single legs.
/// Every node has as many segments as any other, so nothing is tuned. Every node knows the schedule: it can play the broadcast through, as
/// plan() does once for all.
/// Machine  torus of any dimension, h | every side, wormhole in any routing order, all ports, no channel shared.
/// Memory   a table of k N block numbers a node, as long as the list of the blocks that the nodes begin with.   Header  none.
/// Steps    k-D: 2(k-1) L3(h) + k floor(n/2h) + k floor(h/2) [2-D: L5(h) + L3(h) + ..]; all-reduce: twice that without the first
///          (k-1) L3(h), or L5(h). h = 1: rings of whole lines, k floor(n/2).
/// Source   this project, on the partition of Chen, Chen & Tseng.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::reduction {

extern const Algorithm hierarchical_reduce_scatter;
extern const Algorithm hierarchical_allreduce;
extern const Algorithm hierarchical_log_reduce_scatter;
extern const Algorithm hierarchical_log_allreduce;

}  // namespace torus::reduction
