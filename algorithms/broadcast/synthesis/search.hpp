/// What both searches share: the largest machine, the rule of simulated annealing, and the line, which needs no search.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/broadcast/circuit/schedule.hpp"

namespace torus::broadcast {

/// Why a machine is too large; none if it is not.
std::optional<Refusal> too_large_to_search(std::string_view algorithm, const Topology& topology);

/// Whether simulated annealing takes a change: always one that leaves no more nodes unserved, else the less likely the more it leaves.
bool anneal(std::size_t unserved_before, std::size_t unserved_after, std::mt19937_64& random);

/// Whether all nodes form one row, and that row is a line.
bool is_line(const Topology& topology);

/// The broadcast on a line in the minimum number of steps, in closed form.
///
/// One port     The line is halved repeatedly: ceil(log2 N) steps from any root.
/// More ports   A circuit that passes an informed node can as well start there, and only one circuit can leave a node to one side. So
///              a step takes at most two nodes from a gap between two informed nodes, one by each side's circuit, and leaves three gaps.
///              It takes one from the gap at an end of the line, and leaves two. By induction t steps close a gap of up to 3^t - 1 nodes,
///              at an end of up to (3^t - 1) / 2. Even cuts reach that. The steps are the minimum t that closes the longer side of the
///              root.
///
/// With several ports that is at most one step above the bound by counting, which lets the side that is finished first help the other.
/// Circuits of each step. The topology is a line.
std::vector<std::vector<Circuit>> line_broadcast(const Topology& topology, std::int32_t ports, NodeId root);

}  // namespace torus::broadcast
