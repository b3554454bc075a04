/// Broadcast in the minimum number of steps, by search instead of by pattern: every step is a maximum flow between sets of informed nodes
/// that the synthesizer chooses.
///
/// Machine  circuit, any ports, any torus, mesh or mix of both up to 2^20 nodes.
/// Steps    Torus: ceil(log_{ports+1} N), the bound by counting. No torus is known that needs more; should the search fail on one, it takes
///          one step more and the plan says so. Mesh: the same bound with the channels that border nodes have, or a step more: some small
///          meshes, 5x5 with 4 ports among them, cannot meet the bound. A line: the minimum, without search.
///          With dead links and nodes the bound counts the living channels; where the search fails, flows from the root outwards, step by
///          step, always succeed.
/// Set-up   Usually one flow a step: a few seconds for 2^20 nodes, well under one for 2^16. Thin tori that are almost full (2x4x300 with
///          6 ports) take some thousand flows, and so do meshes that cannot meet the bound or hardly can. A search ends after a counted
///          effort, about a second's (Synthesizer::most_looks); then the plan takes the step more.
/// Header   one word, the root's rank. None in the last step.
/// Errors   plan() throws RunError if three steps above the bound are not enough; no machine is known that needs more than one.
/// Memory   O(1) a node beside the payload. A shared table of all circuits relative to the root, O(N) a step: a global schedule instead of
///          node-local rules. Every node can compute its rows, since the table follows from shape and ports (on a mesh, also the root).
/// Source   ours. Wang, Tseng, Ni & Sheu, Circuit-switched broadcasting, ask the question and give steps by pattern.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::broadcast {

extern const Algorithm synthesized;

}  // namespace torus::broadcast
