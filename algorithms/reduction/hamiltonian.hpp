/// Reduce-scatter, all-reduce and multi-node broadcast round k edge-disjoint Hamiltonian cycles at once, both ways: every channel is busy
/// in every step.
///
/// An owner's block is cut into k parts of two pieces. Part t goes round cycle t: stage e = floor(N/2) .. 1, the node at position x gives
/// the part of the owner at x + e to its next node and that of the owner at x - e to the one before; where both are the same owner, a piece
/// each way. An all-reduce then runs the steps backwards, replacing.
/// Machine  torus, sides wider than 1 at least 3; packet (single hops), all ports, no channel shared.
/// Steps    floor(N/2) for a half.   Bytes  m (N-1)/(2kN) for a half, which is optimal, on every such torus.
/// Memory   2kN segments a node; tables of the cycles, 3kN entries.
/// Source   the cycles exist: Foregger (1978), Aubert & Schneider (1982); the search is this project's.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::reduction {

extern const Algorithm hamiltonian_reduce_scatter;
extern const Algorithm hamiltonian_allreduce;
extern const Algorithm hamiltonian_all_gather;

}  // namespace torus::reduction
