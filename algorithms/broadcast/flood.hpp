// SPDX-License-Identifier: MIT
/// Flooding: who hears the message for the first time passes it on over every channel that did not bring it.
/// Machine  packet, all ports, any topology.   Memory  O(1) a node.
/// Steps    the eccentricity of the root: no store-and-forward broadcast takes fewer. The yardstick; it wastes channels.
/// Source   folklore; the optimum of the constant model in steps.
#pragma once

#include "algorithms/catalogue.hpp"

namespace torus::broadcast {

extern const Algorithm flood;

/// The program of a node; the root is the node that holds the message. Nodes know in how many steps all have heard it, and say no more then: the
/// last ones to hear it (two neighbours in an odd ring) would only tell each other.
Program flood_program(Node& self, Step steps);

}  // namespace torus::broadcast
