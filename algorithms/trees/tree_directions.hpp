/// Spanning trees of which those that share a link of several lanes fill whole turns (turns.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/trees/spanning_trees.hpp"

namespace torus::tree_times {

/// In a turn of a link all trees go down by it in the same direction. If u trees go along a link of capacity c, and d against it, they take
/// ceil(u/c) + ceil(d/c) turns, which may be one more than `per_link`, however full the link is. A bounded search changes trees until no
/// link needs more turns than `per_link`, or few do: a node of a tree hangs on another neighbour, or the tree is rooted a hop away. Links
/// with too many trees in a direction walk by such changes until they meet one with room; simulated annealing. Where that takes long a tree
/// is left out, as long as there are more than `least`. No tree gets higher than the highest. Deterministic.
/// Returns the trees, none of them with a middle link, if no link needs more turns; otherwise none.
std::vector<SpanningTree> with_even_directions(const LinkGraph& graph, std::uint32_t per_link, const std::vector<SpanningTree>& trees,
                                               std::uint32_t least);

}  // namespace torus::tree_times
