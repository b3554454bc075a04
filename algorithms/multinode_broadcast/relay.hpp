/// Multi-node broadcast by way of one node: everything gathers at it and goes out as one long message, in the swath of a broadcast.
///
/// The segments of the swath (broadcast/swath.hpp; with one port strip.hpp) are bundles: segment i holds the i-th block of every source's
/// message. So nobody needs to know the sources: in place of a segment a node sends what it holds of it.
/// Machine  torus of any sides, wormhole in any routing order, any ports, no channel shared.
/// Memory   O(s segments) words a node.
/// Steps    those of root_trees.hpp, one way, and of the swath for h pieces.
/// Bytes    of the gather, at most s m a step; and s times those of a broadcast of m bytes.
/// Header   none.   Source  this project.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::multinode {

extern const Algorithm relay;

}  // namespace torus::multinode
