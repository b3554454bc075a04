/// Broadcast on tori of any sides: squeeze the informed nodes into a lattice spread evenly over the machine, then expand it, dimension by
/// dimension, by refining all gaps at once.
///
/// Machine  circuit, 3 ports or more, a torus of two or more dimensions wider than 1. Variants with closing steps: up to 2^22 nodes, an
///          even extent counted as 2.
/// Steps    the minimum of the variants of circuit/squeeze_variants.hpp. Never more than theorems 3 and 4 (2D, 4 and 3 ports) and 7 to 9
///          (3D, 3 to 6 ports) promise, but for one step more at 2x7x7, 2x7x9 and 2x9x9 with 4 ports and 2x5x5 with 5.
/// Header   one word, the root's rank: a node's part follows from its place relative to the root. None in the last step.
/// Memory   O(1) a node beside the payload. Shared tables, of which every node can compute its rows from shape and ports: O(sum of n_d) a
///          step. Where extents are odd in 3D and more, also the circuits of the closing steps: a global schedule, from one maximum flow.
/// Errors   plan() throws RunError if a closing step can inform no node (circuit/closing.hpp); no such torus is known.
/// Source   Wang, Tseng, Ni & Sheu, Circuit-switched broadcasting in multi-port multi-dimensional torus networks, sections 3.2, 4.2 and 5.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::broadcast {

extern const Algorithm squeeze_expand;
/// Single variants, for comparison.
extern const Algorithm two_line;
extern const Algorithm pairs;

}  // namespace torus::broadcast
