/// Reduce-scatter, all-reduce and multi-node broadcast by exchanges along the dimensions, over shared channels: `halving`, `swing`,
/// `tripling`.
///
/// An owner's block is cut into 2k parts; part t begins at axis t mod k and goes round robin over the axes that have rounds left. The parts
/// from k on see each ring in the mirror, so that both directions carry as much. The three differ in the peers of a place x in round s:
///   halving    x xor 2^s, the nearest first
///   swing      x + rho for even x, x - rho for odd, rho = (1 - (-2)^(s+1)) / 3: 1, -1, 3, -5, 11
///   tripling   x +- 3^s, in the last of L rounds x +- ceil((n - 3^(L-1)) / 2)
/// An all-reduce then runs the steps backwards, replacing.
/// Machine  torus, wormhole (packet where no side is above 3, or 2 for halving and swing), all ports, shared channels. halving: sides 2^p;
///          swing: even sides.
/// Steps    for a half: sum of ceil(log2 n_d); tripling: sum of ceil(log3 n_d).
/// Memory   2kN segments a node; tables of n^2 entries a side for halving, of 2n for swing, of n for tripling.
/// Source   Rabenseifner (2004); De Sensi, Bonato, Saam & Hoefler, Swing (2024); Juerss & Schmid, Trivance (2026). The mirrored parts of
///          tripling are this project's.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::reduction {

extern const Algorithm halving_reduce_scatter;
extern const Algorithm halving_allreduce;
extern const Algorithm halving_all_gather;
extern const Algorithm swing_reduce_scatter;
extern const Algorithm swing_allreduce;
extern const Algorithm swing_all_gather;
extern const Algorithm tripling_reduce_scatter;
extern const Algorithm tripling_allreduce;
extern const Algorithm tripling_all_gather;

}  // namespace torus::reduction
