/// Broadcast on a kD torus of side (2k+1)^p: every informed node sends to 2k nodes in every step, which meets the optimum. On each scale
/// s = m^{p-1}, .., m, 1, m = 2k+1, the k stages of network spanning on a torus of side m, every hop count multiplied by s.
/// Machine  circuit, all ports, half-duplex links suffice, no channel shared, torus of equal sides (2k+1)^p.
/// Memory   O(1) a node.
/// Steps    k p = log_{2k+1} N, the minimum.
/// Header   none: the moves follow from the step.
/// Source   Park & Choi, Circuit-switched broadcasting in torus and mesh networks (1996): claim theirs (sides, steps, half-duplex), order
///          of moves ours.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::broadcast {

extern const Algorithm park_choi;

/// The program of a node; the root is the node that holds the message.
Program park_choi_program(Node& self);

}  // namespace torus::broadcast
