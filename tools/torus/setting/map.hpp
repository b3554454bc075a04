/// The map of ranks: which node is each of them, as --map says.
#pragma once

#include <string_view>
#include <vector>

#include <torus/topology.hpp>

namespace torus::command {

/// The node of each rank:
///   row-major    rank r is node r
///   snake        each line the other way round than the one before it: ranks that follow each other are neighbours
///   axis:2,0,1   row-major in the dimensions in this order, the last of them fastest
///   random:7     a permutation that follows from the number
///   file:FILE    a rank or coordinates `3,4` of a node for each rank, with blanks or lines between
/// Throws InputError of one line that says what would do.
std::vector<NodeId> read_map(std::string_view text, const Topology& topology);

}  // namespace torus::command
