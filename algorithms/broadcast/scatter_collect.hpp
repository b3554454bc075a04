/// Scatter, then collect: the message is split into one piece a node. Scatter: every axis in turn is halved, and each message carries only
/// the pieces of the half that it gives away. Collect: in reverse order of the axes, the nodes of every row pass their pieces round the
/// row's ring until each node has all pieces of the row. The closing route of a ring is the long way back.
///   scatter-collect-1d   one axis: the linear array of all nodes, as rs-bcast has it
///   scatter-collect-2d   an axis a dimension
/// Machine  wormhole, 1 port, meshes and tori (without their wrap-around links) of any extents and any number of dimensions, at most 65535
///          nodes.
/// Steps    sum over the axes of ceil(log2 places) + places - 1. On p nodes, where p divides n, 1d takes the model time
///          (ceil(log2 p) + p - 1) T_s + 2 (p-1)/p n T_c, and 2d, on r x c nodes, (ceil(log2 r) + ceil(log2 c) + r + c - 2) T_s +
///          2 (p-1)/p n T_c. For long messages.
/// Header   none.   Memory  O(1) a node beside the names of its p pieces; one table of p block ids, shared.
/// Source   Barnett, Payne, van de Geijn & Watts, "Scatter-Collect Broadcast", "1-D Scatter-Collect", "2-D Scatter-Collect".
#pragma once

#include <torus/algorithm.hpp>

#include "algorithms/broadcast/axes.hpp"

namespace torus::broadcast {

extern const Algorithm scatter_collect_1d;
extern const Algorithm scatter_collect_2d;

/// Passes pieces round the rows of axis a in places - 1 steps. At first every node must have the pieces of its own place of the row.
/// In step t place v sends those of place v - t to place v + 1. The ids of all pieces and the axes must outlive the run.
Program collect_program(Node& self, const Axes& axes, std::size_t a, std::span<const BlockId> pieces);

Program scatter_collect_program(Node& self, const Axes& axes, NodeId root, std::span<const BlockId> pieces);

}  // namespace torus::broadcast
