/// Broadcast by dimension-ordered wormhole messages on 2^p x 2^p and 2^p x 2^p x z tori. In the plane, for s = 2^{p-1}, .., 1, the holders
/// go from the lattice 2s Z^2 to s Z^2, four times as many. The line of z nodes in a third dimension comes first: a holder gives all of
/// its segment but its own place to six children, two by its own column and four by those of its neighbours.
/// Machine  wormhole, dimension-ordered (z routed last), all ports, no channel shared, torus.
/// Memory   O(1) a node.
/// Steps    p; with z p + t, t the minimum with c_t >= z, c_0 = 1, c_{t+1} = 6 c_t + 1. The claim is p + 1 for z = 2..7 and p + m + 2 for
///          7*6^m < z <= 7*6^{m+1}; that is the same but for z = 43, 253..259, .., where ours takes one step less.
/// Header   in the z part the length of the child's segment; in the plane none.
/// Source   Tsai & McKinley, extended dominating nodes, as quoted by Wang & Tseng: step count as claimed, pattern ours.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::broadcast {

extern const Algorithm tsai_mckinley;

/// What all nodes know: the nodes of the z line, the first step in the plane, and the number of steps.
struct TsaiMcKinleySchedule {
  std::int32_t height;
  Step plane_begins;
  Step end;

  explicit TsaiMcKinleySchedule(const Machine& machine);
};

/// The program of a node; the root is the node that holds the message.
Program tsai_mckinley_program(Node& self, const TsaiMcKinleySchedule& schedule);

}  // namespace torus::broadcast
