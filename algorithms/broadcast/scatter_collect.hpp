/// Scatter, then collect: the message is cut in one piece a node, every axis in turn is halved, each message carrying only the pieces of
/// the half that it gives away; then, in the reverse order of the axes, the nodes of every row pass what they have round the row's ring
/// until each has what the row has. The closing routes of the rings go the long way back.
/// The programs and predictions of `scatter-collect-1d` (one axis: the linear array of all nodes) and `scatter-collect-2d` (an axis a
/// dimension).
/// Source: Barnett, Payne, van de Geijn & Watts, "Scatter-Collect Broadcast".
#pragma once

#include <torus/algorithm.hpp>

#include "algorithms/broadcast/axes.hpp"
#include "algorithms/common/refusal.hpp"

namespace torus::broadcast {

/// Passes pieces round the rows of axis a in places - 1 steps. At first every node must have the pieces of its own place of the row.
/// In step t place v sends those of place v - t to place v + 1. The ids of all pieces and the axes must outlive the run.
Program collect_program(Node& self, const Axes& axes, std::size_t a, std::span<const BlockId> pieces);

Program scatter_collect_program(Node& self, const Axes& axes, NodeId root, std::span<const BlockId> pieces);

/// The bytes of the longest message of a step, summed over the steps. O(nodes).
Bytes scatter_collect_channel_bytes(const Topology& topology, const Axes& axes, NodeId root, Bytes bytes);

/// What neither can do; --segments must be left out or be the number of nodes.
refusal::Refusal refuses_scatter_collect(std::string_view algorithm, const Machine& machine, const Request& request);

/// The whole plan: steps are the sum over the axes of ceil(log2 places) + places - 1.
Plan scatter_collect_plan(const Machine& machine, const Request& request, Axes axes, std::string formula);

}  // namespace torus::broadcast
