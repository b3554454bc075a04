/// Pipelined ring broadcast: the message is split into K segments that follow one another round the ring of all nodes, from the root to
/// the node before it. The ring is the linear array of axis.hpp, closed. All routes of a step may be in use, and none share a channel.
/// Machine  wormhole, 1 port, meshes and tori (without their wrap-around links) of any extents and any number of dimensions.
/// Steps    K + p - 2 on p nodes. Best for long messages on few nodes: every byte crosses a channel once, after p - 2 steps.
/// Header   none.   Memory  O(1) a node.
/// Source   the one-dimensional case of Barnett, Payne, van de Geijn & Watts, "Pipelined Broadcast"; the ring is that of their
///          "1-D Scatter-Collect". No channel twice: two neighbours i -> i+1 of the array both go "to the right". The closing route
///          starts in the last place of every slower dimension (or ends in the first), where no other route turns back.
#pragma once

#include <cstdint>

#include <torus/algorithm.hpp>
#include <torus/byte_sum.hpp>

#include "algorithms/broadcast/axis.hpp"

namespace torus::broadcast {

extern const Algorithm pipeline;

/// Round the ring that an axis makes when its ends meet. `ring` must outlive the run.
Program pipeline_program(Node& self, const Axis& ring, NodeId root, std::uint32_t segments);

/// The steps of `segments` segments over a ring of `places`, and the bytes on a step's busiest channel, summed over the steps.
std::uint64_t pipeline_steps(Place places, std::uint64_t segments) noexcept;
ByteSum pipeline_channel_bytes(Place places, Bytes bytes, std::uint64_t segments) noexcept;

/// The whole plan, for any machine without a complete dimension.
Plan pipeline_plan(const Machine& machine, const Request& request);

}  // namespace torus::broadcast
