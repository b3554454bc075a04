/// Broadcast on tori of any sides: squeeze the informed nodes into a lattice spread evenly over the machine, then expand it, dimension by
/// dimension, by refining all gaps at once.
///
/// Machine  circuit switching, 3 ports or more, a torus of two or more dimensions wider than 1. Variants with closing steps: up to 2^22
/// nodes, an
///          even extent counted as 2.
/// Steps    the fewest of the variants of circuit/squeeze_variants.hpp; never more than theorems 3 and 4 (2D, 4 and 3 ports) and 7 to 9
///          (3D, 3 to 6 ports) promise, but for one step more at 2x7x7, 2x7x9 and 2x9x9 with 4 ports and 2x5x5 with 5.
/// Header   one word, the root's rank: a node's part follows from its place relative to the root. None in the last step.
/// Memory   O(1) a node beside the payload. Shared tables, which every node would compute alike from shape and ports: O(sum of n_d) a step
///          and, where extents are odd in 3D and more, circuits of the closing steps.
/// Errors   plan() throws RunError if a closing step can inform nobody (circuit/closing.hpp); no torus is known where that is so.
/// Source   Wang, Tseng, Ni & Sheu, Circuit-switched broadcasting in multi-port multi-dimensional torus networks, sections 3.2, 4.2 and 5.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::broadcast {

extern const Algorithm squeeze_expand;
/// Single variants, to set beside the best.
extern const Algorithm two_line;
extern const Algorithm pairs;

}  // namespace torus::broadcast
