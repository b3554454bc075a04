/// `hierarchical` and `hierarchical-log` for any h, on 2-D tori of which it does not divide both sides.
///
/// The phases run on the grid of stations (stations.hpp), but for the first and the last:
///   join                                  each spare node hands its messages to a station beside it
///   aggregate, tune, ddn-rings, scatter   on the grid
///   dcn-broadcast, dcn-rings              from the grid to all places (class_windows.hpp)
/// Machine  2-D torus of any sides, wormhole in any routing order, all ports, no channel shared.
/// Steps    1 + L5(h) + tune + 2 floor(longest q / 2) + L3(h) + 2 floor(g/2), q = floor(n/h), g the most places between two stations of a
///          class, less than 2h + 1; -log: .. + L3(g), at times 1 more, + floor(g/2). Together as in hierarchical.hpp.   Header  see tune.
/// Source   this project.
#pragma once

#include <torus/program.hpp>

#include "algorithms/multinode_broadcast/hierarchy.hpp"

namespace torus::multinode {

Program uneven_program(Node& self, const Hierarchy& scheme);

/// Sum over the steps of the most bytes on a channel if every node is a source and nothing is balanced: exact.
double uneven_bytes_of_all(const Hierarchy& scheme, Bytes m);

}  // namespace torus::multinode
