/// Multi-node broadcast by dimension-wise all-gather: k parts of every message go round the k dimensions' rings, then change dimensions.
///
/// All links carry something in every step. If every node is a source and the sides are odd and equal it moves no byte more than any
/// scheme must; for few sources the fullest row decides.
/// Machine  torus of any dimension and sides, packet (single hops), all ports, no channel shared.   Memory  O(s k) words a node.
/// Steps    k floor(longest side / 2), whatever the sources.   Header  none.
/// Source   folklore (ring all-gather).
#pragma once

#include <torus/algorithm.hpp>

namespace torus::multinode {

struct RingGather;

extern const Algorithm ring;

Program ring_program(Node& self, const RingGather& rings);

}  // namespace torus::multinode
