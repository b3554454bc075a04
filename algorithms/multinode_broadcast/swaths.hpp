/// Multi-node broadcast of few sources: first all nodes learn which nodes are sources, then each source's message goes out in a swath.
///
/// The names of the sources travel in control words (source_names.hpp). Then every node knows the schedules of all. The swaths
/// (broadcast/swath.hpp; with one port strip.hpp) take turns up to their gathers, by neighbours, which they have in common.
/// Machine  torus of any sides, wormhole in any routing order, any ports, no channel shared.
/// Memory   O(s) words a node beside its blocks.
/// Steps    learn + s (R - t) + t, R the steps of the swath, t those of its gather; learn is in source_names.hpp.
/// Bytes    at most 4 s a step of learning, and s times those of the swath.
/// Header   the names.   Source  this project.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::multinode {

extern const Algorithm swaths;

}  // namespace torus::multinode
