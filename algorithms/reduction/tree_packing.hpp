/// Reductions and the multi-node broadcast over spanning trees that are packed around the holes of a machine.
///
/// Reduce, all-reduce: over as many arc-disjoint spanning trees from a root as there are, pipelined; the steps are those of trees.hpp. For
/// an all-reduce any root serves, since the least cut of the machine is the same from every node (each link has both its channels): the
/// first of the nodes with the least eccentricity is taken, for low trees.
/// Multi-node broadcast: a tree for each node's block, and the step of each arc, found together (gather_rounds.hpp). The steps are made for
/// all living nodes as sources; a node that should pass on what it has not got is silent. Reduce-scatter: the same backwards. All-reduce:
/// both, where that is faster than over a root, as for short vectors.
///
/// Machine  packet (single hops), all ports, any topology, with dead links and nodes too, up to a size; no channel shared. All nodes know
///          the machine, its holes and the root, and so the trees and the steps.
/// Memory   6 k bytes a node of tables, k K segments a node; multi-node broadcast: 24 N bytes a node.   Header  none.
/// Steps    over a root H + K - 1, H the height of the k trees; all-reduce twice as many. Multi-node broadcast with C blocks a channel and
///          step: as the search finds, about (D^4 + (B/C)^4)^(1/4), D the diameter, B = (N-1) / fewest channels of a node; with C = 1 it is
///          ceil(B) on tori and meshes with few holes, which no scheme of whole blocks beats.
/// Bytes    m / kK in each step; C blocks in each step.
/// Source   packed_trees.hpp, gather_rounds.hpp.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::reduction {

extern const Algorithm tree_packing_reduce;
extern const Algorithm tree_packing_allreduce;
extern const Algorithm tree_packing_reduce_scatter;
extern const Algorithm tree_packing_all_gather;

}  // namespace torus::reduction
