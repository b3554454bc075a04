/// Reduce, all-reduce, scatter and gather along the tree of a broadcast.
///
/// A reduce is the broadcast backwards (transfers.hpp): a node combines what those send that it would have informed, and gives the sum to
/// the node that would have informed it. An all-reduce is a reduce and a broadcast. In a scatter the message to a node carries the blocks
/// of all that it passes on to; a gather is the scatter backwards. Every node knows the tree: it can play the broadcast through, as plan()
/// does once for all of them.
/// Machine  that of the broadcast. Wormhole: where it takes the dimensions in the opposite order, too, if its routes have several legs.
/// Memory   a table of a line a node.   Header  none.
/// Steps    those of the broadcast, for an all-reduce twice as many.
/// Bytes    the vector in each step. Scatter, gather: counted from the table; few where the trees are balanced.
/// Source   the broadcasts'; that a reduction is a broadcast backwards is folklore.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::reduction {

struct BroadcastTrees {
  Algorithm reduce, allreduce, scatter, gather;
};

extern const BroadcastTrees tree_dimension_wise, tree_wang_tseng, tree_wang_tseng_trimmed, tree_tsai_mckinley;             // wormhole
extern const BroadcastTrees tree_mst, tree_separate_dimensions, tree_rs_bcast;                                             // and one port
extern const BroadcastTrees tree_span, tree_squeeze_expand, tree_two_line, tree_pairs, tree_peters_syska, tree_park_choi,  // circuit
    tree_synthesized;

}  // namespace torus::reduction
