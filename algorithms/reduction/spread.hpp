/// Scatter over all channels of the root at once, and the gather backwards: each block alone, never waiting, in the fewest steps.
///
/// The blocks leave the root the farthest first, one a step and class, and go straight on; spread_classes.hpp says which class takes which
/// way and why no two blocks meet. A node on the way reads the next hop off the block's id.
/// Machine  packet (single hops), all ports, rings and lines, no channel shared.
/// Memory   a class, a step and a count a node.   Header  none.
/// Steps    max over e of e - 1 + ceil(N_e / c), N_e nodes at distance e or more, c the root's channels: the bound of the blocks one by
///          one, met on all of some hundred tori; with lines at times a few more.
/// Bytes    a block a step.   Source  this project.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::reduction {

extern const Algorithm spread_scatter;
extern const Algorithm spread_gather;

}  // namespace torus::reduction
