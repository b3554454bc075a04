/// Multi-node broadcast of few sources: first all nodes learn which nodes are sources, then each source's message goes out in a swath.
///
/// The names of the sources, a control word each, gather at one node and spread from it (root_trees.hpp), or on n x .. x n nodes with all
/// ports, where that takes fewer steps, by way of the plane (hyperplane.hpp). Then every node knows the schedules of all. The swaths
/// (broadcast/swath.hpp; with one port strip.hpp) take turns up to their gathers, by neighbours, which they have in common.
/// Machine  torus of any sides, wormhole in any routing order, any ports, no channel shared.
/// Memory   O(s) words a node beside its blocks.
/// Steps    learn + s (R - t) + t, R the steps of the swath, t those of its gather. learn = 2 sum of ceil(log_b n_d), b = 3, or 2 with one
///          port; or 2 ceil(log_{2k+1} n) + ceil(log_{k+1} n^(k-1)).
/// Bytes    at most 4 s a step of learning, and s times those of the swath.
/// Header   the names.   Source  this project.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::multinode {

extern const Algorithm swaths;

}  // namespace torus::multinode
