/// When the blocks of a scatter leave the root: a matching of nodes with the steps of classes.
///
/// The blocks of a class leave one a step, the farthest first. Within T steps a class has room for T - e + 1 nodes at distance e or more,
/// for each e. Farthest nodes are assigned first, to the class that has fewest; where all classes of a node are full, others make room
/// (augmenting paths, which find a matching if there is one).
#pragma once

#include <cstdint>
#include <vector>

#include <torus/block.hpp>
#include <torus/machine.hpp>

namespace torus::reduction {

/// Blocks that leave in one direction: 2 d, and 1 more for -.
using SpreadClass = std::uint8_t;

struct LeavingNode {
  NodeId rank = 0;
  std::int32_t distance = 0;         // from the root
  std::vector<SpreadClass> classes;  // that it may belong to
  SpreadClass in = 0;                // the one that it belongs to, and the step in which it leaves
  Step step = 0;
};

/// Gives each node, the farthest first, a class and a step, so that all arrive within so many steps. Returns whether that is possible.
bool match_leaving_steps(std::vector<LeavingNode>& nodes, Step steps, std::size_t classes);

}  // namespace torus::reduction
