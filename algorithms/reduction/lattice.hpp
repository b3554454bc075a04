/// Reduce-scatter, all-reduce and multi-node broadcast in the fewest steps, over shared channels: the same few offsets from every node in a
/// step.
///
/// Step s has up to 2k offsets O_s. A displacement, from a node to the owner of a block, is in Reach(s) if it is a sum of at most one
/// offset of each step from s on; Reach(0) is all. A node holds the blocks of displacements hold(s), hold(0) all. hold(s+1) is a small part
/// of Reach(s+1) that covers hold(s): each x of hold(s) is in it, or x - o is, for an o of O_s. In step s a node gives the blocks at x in
/// hold(s) but not in hold(s+1) to the node at o: there they are at x - o. Near offsets come first, where there is most to send. An
/// all-reduce then runs the steps backwards, replacing.
///
/// Everybody is counted once, as partials are only given away; every block comes home, as hold(T) = {0}.
/// Machine  torus, wormhole, all ports, shared channels.
/// Steps    ceil(log_{2k+1} N) for a half, at times 1 more: the bound.   Memory  N segments a node; a table of N displacements for all.
/// Source   this project; the perfect code of n = 5^p as in Peters & Syska (1996).
#pragma once

#include <torus/algorithm.hpp>

namespace torus::reduction {

extern const Algorithm lattice_reduce_scatter;
extern const Algorithm lattice_allreduce;
extern const Algorithm lattice_all_gather;

}  // namespace torus::reduction
