/// Reduce and all-reduce over 2k arc-disjoint spanning trees, pipelined: the long-message reduce.
///
/// The vector is cut into 2k K segments; segment c 2k + r is chunk c of tree r. Up: a node at depth d of tree r forwards chunk c to its
/// parent, combining, in step c + H - d: what its children sent has come in the step before. Down, in the all-reduce: a node at depth d
/// sends chunk c to its children in step c + d. The two do not overlap: every channel is busy both ways.
/// Machine  packet (single hops), all ports, tori of any extents and up to 8 dimensions of more than one node; no channel shared.
/// Memory   tables of 2k entries a node; 2k K segments a node.   Header  none.
/// Steps    H + K - 1, H the height of the trees (spanning_trees.hpp); all-reduce twice as many.
/// Bytes    m / 2kK in each step: a reduce's m / 2k, its lower bound, times 1 + (H-1)/K. K is near sqrt((H-1) m T_c / (2k T_s)).
/// Source   the trees: this project, after Varvarigos & Bertsekas; reversed.
#pragma once

#include <memory>

#include <torus/algorithm.hpp>

#include "algorithms/broadcast/tree_chunks.hpp"

namespace torus::reduction {

extern const Algorithm trees_reduce;
extern const Algorithm trees_allreduce;

/// A reduce to the root of the trees, or an all-reduce over it. Reads the parameter `segments`.
Plan plan_over_trees(const Machine& machine, const Request& request, std::shared_ptr<const ArcTrees> trees);

}  // namespace torus::reduction
