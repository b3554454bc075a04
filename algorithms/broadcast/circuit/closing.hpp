/// The closing: from the interleaved lattices of unit gaps to all nodes.
///
/// At first the nodes are informed whose indices in all dimensions have one parity. Maximum flows serve the rest, relative to the root: a
/// global table of which every node can compute its rows. Along an even extent the lattice repeats every 2 places, and so does some
/// solution, since the mean of a flow's translates is a flow. So the flow is solved on the torus with even extents reduced to 2; where
/// all are even it has 2^k nodes.
/// Steps    ceil(log_{ports+1} 2^(k-1)), at times one more where an odd extent leaves a gap of 2, or where ports are few.
#pragma once

#include "algorithms/broadcast/circuit/expanding_step.hpp"

namespace torus::broadcast {

/// The most nodes of the torus that the flow is solved on: some seconds, and well under 1 GiB.
inline constexpr NodeId max_closing_nodes = NodeId{1} << 22U;
NodeId closing_nodes(const Topology& topology);  ///< of the torus with even extents reduced to 2

/// Adds the steps. `axes`: all dimensions of extent 2 or more, finished to GapBase::unit. Cost: a maximum flow among closing_nodes() a
/// step. Errors: RunError if a step can inform no node; no such torus is known.
void add_closing_steps(CircuitSchedule& schedule, const Topology& topology, std::int32_t ports, const std::vector<GapAxis>& axes);

}  // namespace torus::broadcast
