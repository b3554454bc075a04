/// Broadcast in the least number of steps there can be, by search instead of by pattern: every step is a maximum flow between sets of
/// informed nodes that the synthesizer chose.
///
/// Machine  circuit switching, any ports, any torus, mesh or mix of both up to 2^20 nodes.
/// Steps    torus: ceil(log_{ports+1} N), the bound by counting. No torus is known that needs more; should the search fail on one, it takes
///          a step more and the plan says so. Mesh: the like bound with the channels that nodes at borders have, or a step more: some small
///          meshes, 5x5 with 4 ports among them, cannot do with the bound. A line: the fewest that there can be, without search.
/// Set-up   one flow a step as a rule, a few seconds for 2^20 nodes, well under one for 2^16; some thousand flows on a few thin tori that
///          are just full (2x4x300 with 6 ports) and on meshes, thin ones above all, that cannot do with the bound or hardly. A search ends
///          after a counted effort, about a second's (Synthesizer::most_looks), and then the plan takes the step more.
/// Header   one word, the root's rank. None in the last step.
/// Errors   plan() throws RunError if three steps above the bound are not enough; no machine is known where more than one is needed.
/// Memory   O(1) a node beside the payload. A shared table of all circuits relative to the root: it follows from shape and ports alone (on
///          a mesh from the root's rank too), so that every node would compute it alike, but it is a global schedule, of O(N) a step.
/// Source   ours; the question, and steps by pattern, are of Wang, Tseng, Ni & Sheu, Circuit-switched broadcasting.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::broadcast {

extern const Algorithm synthesized;

}  // namespace torus::broadcast
