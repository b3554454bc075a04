/// The maximum number of arc-disjoint spanning trees from a root, found by search: any topology, with holes or without.
///
/// Edmonds (1973): there are k arc-disjoint spanning trees from a root exactly if k units flow from it to every node, an arc carrying one.
/// The same holds for trees that have begun to grow: if tree i has the nodes R_i, all can be completed with the free arcs exactly if, for
/// every node v, k units flow to v from k sources, of which source i feeds one unit into some node of R_i (Lovasz 1976 has the proof by
/// growing). So an arc may be added to a tree if that flow to its head remains. The trees take an arc each in turn, level by level, so that
/// none gets higher than it must. An arc that a tree must not take now, it must not take later either: each is tried once.
/// Cost     at most k A flows, A the channels, each of at most k searches of the free arcs; most searches end after a few nodes.
/// Source   J. Edmonds, Edge-disjoint branchings; L. Lovasz, On two minimax theorems in graph. The growth in turns: this project.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include <torus/plan_cache.hpp>
#include <torus/requirements.hpp>

#include "algorithms/trees/arc_trees.hpp"

namespace torus {

/// Deterministic. At most ArcTrees::max_trees.
std::shared_ptr<const ArcTrees> packed_trees(const Topology& topology, NodeId root, PlanCache& cache);

/// How many trees a machine may have.
std::uint32_t most_packed_trees(const Topology& topology) noexcept;

/// Memory that packed_trees() takes at most.
Bytes packing_bytes(const Topology& topology);

/// Refuses machines that take too long to search.
std::optional<Refusal> too_large_to_pack(std::string_view algorithm, const Topology& topology);

}  // namespace torus
