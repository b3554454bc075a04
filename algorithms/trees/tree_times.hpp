/// When the links of spanning trees carry their part of a vector up to the middle of their tree and down again, if each tree has a part.
///
/// A channel carries in one step messages of one manner alone: partials that their sender gives away, on the way up, or results that it
/// keeps, on the way down. Most links are used upwards by some trees and downwards by others, in either direction. Two ways to keep them
/// apart:
///   at once    all trees meet in the same step: what goes up does so before it, what goes down after it. D steps, D the longest path of a
///              tree, and up to q parts on a channel in a step.
///   in turns   in a period of q steps each channel carries every tree that it is in once, in a step of its own. So one part a channel and
///              step, and every q steps the next segments of all parts can follow. A channel of capacity c carries c parts a step.
#pragma once

#include <cstdint>
#include <vector>

#include <torus/schedule.hpp>

#include "algorithms/trees/spanning_trees.hpp"

namespace torus {

/// Sends of the parts 0, 1, .., each along its tree, in the fewest steps. Of the forms "as early as can be" and "as late as can be", up and
/// down, that with the least sum over the steps of the longest time that the parts on a channel take.
Schedule trees_at_once(const Machine& machine, const LinkGraph& graph, const std::vector<SpanningTree>& trees);

/// Such that in the steps that are multiples of `period` apart a channel sends no more parts than it has capacity, all of one manner; no
/// link may be in more than `per_link` trees for its capacity. The period is `per_link`; one more at most where links have capacities. In
/// few steps, by a bounded search: at first every link takes in each step the trees with the farthest to go; then two trees of a link
/// change their turns where that does not make more nodes late. Deterministic.
struct TreeTurns {
  Schedule schedule;
  std::uint32_t period;
};
TreeTurns trees_in_turns(const Topology& topology, const LinkGraph& graph, const std::vector<SpanningTree>& trees, std::uint32_t per_link);

}  // namespace torus
