/// Inclusive scan in the order of ranks: sums run along a line, then go back to the nodes that come after.
///
/// Along the last dimension each node passes its prefix on to the next place. Then, dimension by dimension inwards to outwards, the last
/// nodes of the blocks done so far do the same: what comes in is the sum of all earlier blocks of the same outer coordinates. It is
/// combined with register 0, kept alone in register 1, and goes from there back over the block, outermost dimension first. Whoever passes
/// it on for the last time gives it away, and whoever does not is not sent it into register 1: so that is empty again for the next
/// dimension, and one spare register is enough for any number of dimensions. With none, a node on the way could not pass on what has
/// become part of its own prefix.
/// Machine  any shape, packet (single hops), one port, no channel shared.
/// Steps    (n_k - 1) + sum over d < k of [(n_d - 1) + sum over e > d of (n_e - 1)].   Bytes  steps m.   Header  none.
/// Memory   2 vectors a node, one on a single line.
/// Order    combined in the order of ranks, but that a node's own comes first: for commuting operators.
/// Source   folklore.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::reduction {

extern const Algorithm line_scan;

}  // namespace torus::reduction
