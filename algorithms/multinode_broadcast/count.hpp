/// Counting over the whole torus: every node ends with the sum of what all nodes brought. Ternary along each dimension and back.
/// Machine  torus of any dimension, wormhole (single legs); with rings up to 3 nodes packet switching does.
/// Steps    2 sum over t of ceil(log3 n_t).   Header  one word.   Source  this project.
#pragma once

#include <span>

#include <torus/program.hpp>

#include "algorithms/multinode_broadcast/line_tree.hpp"

namespace torus::multinode_broadcast {

/// trees[i]: Line_3 along dimension axes[i].
ProgramOf<std::uint32_t> count_everywhere(Node& self, std::span<const Dimension> axes, std::span<const LineTree> trees, std::uint32_t own);

}  // namespace torus::multinode_broadcast
