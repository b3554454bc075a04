/// Broadcast on a square torus of side 5^p or 2*5^p by recursive tiling: every informed node sends to four nodes in every step, which
/// meets the optimum. For s = 5^{p-1}, .., 5, 1 the holders go from the lattice of 5s Z^2 to s M, M the perfect Lee code {(2u-v, u+2v)},
/// and on to s Z^2. A side of 2*5^p is split into four squares first.
/// Machine  circuit, all ports, no channel shared, torus 5^p x 5^p or 2*5^p x 2*5^p.
/// Memory   O(1) a node.
/// Steps    2p, or 2p+1: ceil(log_5 N), the minimum.
/// Header   none: the moves follow from the step.
/// Source   Peters & Syska, Circuit-switched broadcasting in torus networks (1996); moves reconstructed from the abstract's claim.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::broadcast {

extern const Algorithm peters_syska;

/// The program of a node; the root is the node that holds the message.
Program peters_syska_program(Node& self);

}  // namespace torus::broadcast
