/// Minimum spanning tree broadcasts on a mesh that is numbered as a hypercube: in each step every informed node j sends to j XOR 2^i.
/// mst        The most significant bit first: the column of the root, then each row by itself. The routes of a step are disjoint.
/// mst-naive  The least significant bit first. In the step of bit i of a dimension, 2^i routes share a channel. The baseline for mst.
/// Machine  wormhole, 1 port, meshes and tori (without their wrap-around links), extents powers of two, any number of dimensions.
///          mst: packet switching does where all extents are 1 or 2. mst-naive: shared channels.
/// Steps    log2 p on p nodes: the minimum for one port. Each carries the whole message.
///          mst-naive: the busiest channel carries (r-1) + (c-1) messages on an r x c mesh: model time log2(p) T_s + (r+c-2) n T_c.
/// Header   none: the bit by which a node is informed is the least significant (mst), or the most significant (mst-naive), in which it
///          differs from the root.
/// Memory   O(1) a node.
/// Source   Barnett, Payne, van de Geijn & Watts, "Conflict-Free Hypercube-Like Mesh Algorithm", "Naive Hypercube-Like Mesh Algorithm".
#pragma once

#include <torus/algorithm.hpp>

namespace torus::broadcast {

extern const Algorithm mst;
extern const Algorithm mst_naive;

/// The straight route from a node to node XOR bit, without wrap-around links. `bit` is a power of two below the number of nodes.
Leg leg_over_bit(const Topology& topology, NodeId node, NodeId bit) noexcept;

Program mst_program(Node& self, NodeId root);
Program mst_naive_program(Node& self, NodeId root);

}  // namespace torus::broadcast
