/// Broadcast by worms in dimension order in as few steps as a search finds: how many nodes of each line of the last dimension are informed
/// before each step, which, and by a matching who informs whom.
///
/// Machine  wormhole in ascending dimension order, all ports, any torus, mesh or mix of both up to 2^20 nodes.
/// Steps    B or one step more on every torus tried, where B is ceil(log_{2k+1} N) or what ordered_bound.hpp proves beyond it: B on
///          1,651 of the 1,681 2D tori with sides 2 to 42. Meshes: mostly B to B+2. Where no search succeeds, as many as along one
///          dimension after the other.
/// Set-up   Where the first choices succeed, as on most machines, one matching a step: 1 ms for 64x64, 60 ms for 32x32x32. Else a search
///          ends after a counted effort, about a second's (OrderedSynthesizer::most_looks), and the next one has a step more.
/// Header   one word, the root's rank. None in the last step.
/// Memory   as for synthesized: a shared table of all routes relative to the root, O(N) a step.
/// Source   ours. Wang & Tseng and Tsai & McKinley give steps by pattern for square tori: ceil(log_5 n) times two, and more.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::broadcast {

extern const Algorithm synthesized_ordered;

}  // namespace torus::broadcast
