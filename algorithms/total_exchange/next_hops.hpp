/// Total exchange without a list of sends: a table says by which channel a node sends on what is for another node, and another which
/// channels work in which step. What waits for a channel that works crosses it.
///
/// *Hops*: the ways to a node are a tree of shortest ways over living channels. A node of the tree, the farthest first, takes the channel
/// that is the emptiest when its blocks come, of those of the trees made before, too. *Steps*: with all ports every channel works in every
/// step. With fewer ports the channels with the most to bring work, as many as the ports allow: a block counts once, or twice as much for
/// each hop that it has to go. A budget of blocks for each channel and step evens long messages out: what came first goes first, of what
/// came in one step the lowest numbers. All is played through, with fewer and fewer blocks, and the rule of the least model time is taken.
///
/// Machine  packet (single hops), any ports; any shape, twisted or with holes.
/// Steps    with all ports and short blocks the diameter of the living machine, else those of the play.   Header  none.
/// Bytes    counted in the play.   Memory  two bytes for each pair of nodes and for each port and step of a node, shared by all nodes; the
///          ids of the blocks that wait.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::total_exchange {

Plan plan_by_next_hops(const Machine& machine, const Request& request, PlanCache& cache);

/// Memory that planning takes at most.
Bytes next_hops_bytes(const Machine& machine);

}  // namespace torus::total_exchange
