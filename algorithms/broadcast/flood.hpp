/// Flooding: on first receipt a node forwards the message on every channel but those that it received it from. The nodes farthest from the
/// root send nothing. Pipelined: the message is split into K segments that follow one another, one a step.
/// Machine  packet, all ports, any topology, with dead links and nodes too. A node knows which of its own links are dead. Nodes know
///          the eccentricity of the root, as they know the root in any broadcast call.   Memory  O(1) a node,
///          and the copies that arrive at nodes that have the message, about one a node at once.
/// Steps    the eccentricity e of the root: the minimum for store-and-forward. The baseline; it wastes channels.
///          Pipelined e + K - 1, each with a K-th of the bytes; best K = sqrt((e-1) m T_c / (T_s + T_h)) for m bytes.
/// Header   none.
/// Source   folklore; the optimum of the constant model in steps.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::broadcast {

extern const Algorithm flood;
extern const Algorithm flood_pipelined;

/// The program of a node; the root is the node that holds the message.
Program flood_program(Node& self, Step eccentricity, std::uint32_t segments);

}  // namespace torus::broadcast
