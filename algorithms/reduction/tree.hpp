/// Reduce, gather and scatter along the lines through the root: a baseline for every shape and number of ports.
///
/// Reduce: a node combines what its children send and gives the sum to its parent. Gather: it passes on all that it has got, as one bundle.
/// Scatter: the gather backwards; the message to a node carries the blocks of its whole subtree.
/// Machine  any, packet (single hops), any number of ports, no channel shared.
/// Steps    sum over the dimensions: a ring's floor(n/2), with one port n-1; a line's longer side, with one port and two sides of one
///          length one more; a complete dimension's ceil((n-1)/ports).
/// Bytes    reduce: as many vectors as steps. Gather and scatter: bundled blocks, about N/2 times half the first extent where sides
///          are equal.
/// Source   folklore (recursive gathering along the dimensions).
#pragma once

#include <torus/algorithm.hpp>

namespace torus::reduction {

extern const Algorithm tree_reduce;
extern const Algorithm tree_gather;
extern const Algorithm tree_scatter;

}  // namespace torus::reduction
