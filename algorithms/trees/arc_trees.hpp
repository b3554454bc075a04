/// Arc-disjoint spanning trees of a machine, as a table: which tree each channel belongs to. No channel is in two trees, so a byte a
/// channel says everything. What every node knows beforehand.
///
/// Where channels differ in speed, fast ones count as several *copies*, a byte each, and no copy is in two trees.
///
/// The trees span the living nodes; channels of dead nodes are in no tree. closed_form.cpp and packing.cpp make such tables, and so may any
/// other source of arc-disjoint trees.
///
/// A *place* is where a node stands in the trees of a root. In the table of one root it is the node's rank. A table for all roots has the
/// trees of node 0; there a place is the rank of the displacement from the root.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <torus/machine.hpp>
#include <torus/plan_cache.hpp>
#include <torus/requirements.hpp>
#include <torus/route.hpp>
#include <torus/topology.hpp>

namespace torus {

class ArcTrees {
 public:
  enum class Roots : std::uint8_t { one, all };
  static constexpr std::uint8_t no_tree = 0xff;
  static constexpr std::uint32_t max_trees = 64;

  /// `tree_of_channel`: by place, channel slot and copy; no_tree where no tree has it.
  ArcTrees(const Topology& topology, Roots roots, NodeId root, std::uint32_t trees, std::vector<std::uint8_t> tree_of_channel,
           std::uint32_t copies = 1);

  /// 0 where the root is the only living node.
  std::uint32_t trees() const noexcept { return trees_; }
  /// Trees that a message is dealt out to: at least 1.
  std::uint32_t shares() const noexcept { return std::max(1U, trees_); }
  std::uint32_t height() const noexcept { return heights_.empty() ? 0 : *std::max_element(heights_.begin(), heights_.end()); }
  std::uint32_t height(std::uint32_t tree) const noexcept { return heights_[tree]; }
  /// Trees that a channel can be in.
  std::uint32_t copies() const noexcept { return copies_; }
  std::uint32_t slots() const noexcept { return static_cast<std::uint32_t>(legs_.size()); }
  Leg leg(std::uint32_t slot) const noexcept { return legs_[slot]; }

  /// Where a node stands in the trees of a root.
  NodeId place(const Topology& topology, NodeId node, NodeId root) const noexcept {
    if (roots_ == Roots::one) return node;
    NodeId place = 0;
    for (Dimension d = 0; d < topology.dimensions(); ++d) {
      const std::int32_t offset = topology.coordinate(node, d) - topology.coordinate(root, d);
      place += static_cast<NodeId>(offset < 0 ? offset + topology.extent(d) : offset) * topology.stride(d);
    }
    return place;
  }
  /// The node that stands at a place in the trees of a root.
  NodeId node_at(const Topology& topology, NodeId place, NodeId root) const noexcept {
    if (roots_ == Roots::one) return place;
    NodeId node = 0;
    for (Dimension d = 0; d < topology.dimensions(); ++d) {
      const std::int32_t at = topology.coordinate(place, d) + topology.coordinate(root, d);
      node += static_cast<NodeId>(at < topology.extent(d) ? at : at - topology.extent(d)) * topology.stride(d);
    }
    return node;
  }
  /// Calls f(slot) for each channel from a place to a child in a tree, in the order of the slots.
  template <class F>
  void each_child(NodeId place, std::uint32_t tree, F&& f) const {
    const std::uint8_t* tree_of = &tree_of_channel_[std::size_t{place} * legs_.size() * copies_];
    for (std::uint32_t slot = 0; slot < legs_.size(); ++slot) {
      for (std::uint32_t copy = 0; copy < copies_; ++copy, ++tree_of) {
        if (*tree_of == tree) f(slot);
      }
    }
  }
  /// Calls f(from, slot, to, depth of `to`) for each arc of a tree, level by level from the root. O(nodes * slots).
  template <class F>
  void each_arc(const Topology& topology, std::uint32_t tree, F&& f) const {
    std::vector<NodeId> places{root_};
    std::size_t next = 0;
    for (std::uint32_t depth = 1; next < places.size(); ++depth) {
      for (const std::size_t end = places.size(); next < end; ++next) {
        const NodeId from = places[next];
        each_child(from, tree, [&](std::uint32_t slot) {
          const NodeId to = *topology.neighbour(from, legs_[slot].dimension, legs_[slot].hops);
          places.push_back(to);
          f(from, slot, to, depth);
        });
      }
    }
  }

  Bytes table_bytes() const noexcept { return tree_of_channel_.size(); }

 private:
  Roots roots_;
  NodeId root_;
  std::uint32_t trees_, copies_;
  std::vector<Leg> legs_;  // by slot
  std::vector<std::uint8_t> tree_of_channel_;
  std::vector<std::uint32_t> heights_;  // by tree
};

/// The way up in the trees: the slot of the channel to the parent, and the depth, by place and tree.
class WayUp {
 public:
  static constexpr std::uint8_t no_slot = 0xff;

  WayUp(const Topology& topology, const ArcTrees& trees);

  /// no_slot at the root and at dead nodes.
  std::uint8_t parent(NodeId place, std::uint32_t tree) const noexcept { return parents_[std::size_t{place} * trees_ + tree]; }
  /// Arcs from the root.
  std::uint32_t depth(NodeId place, std::uint32_t tree) const noexcept { return depths_[std::size_t{place} * trees_ + tree]; }

  static Bytes table_bytes(const Topology& topology, std::uint32_t trees) noexcept { return Bytes{5} * topology.nodes() * trees; }

 private:
  std::uint32_t trees_;
  std::vector<std::uint8_t> parents_;
  std::vector<std::uint32_t> depths_;
};

/// 2k arc-disjoint spanning trees of a k-dimensional torus, in closed form (closed_form.cpp): a table for all roots.

/// The lower of the forms that are valid. A torus of at most 8 dimensions with more than one node.
ArcTrees closed_form_trees(const Machine& machine);
/// The planar rule alone; none where it does not give arc-disjoint spanning trees. Two dimensions.
std::optional<ArcTrees> planar_rule_trees(const Topology& topology);

/// Trees that a message is dealt out to: 2k, but 1 for a single node.
std::uint32_t closed_form_shares(const Topology& topology);
std::optional<Refusal> too_many_dimensions(std::string_view algorithm, const Topology& topology);
/// Memory that closed_form_trees() takes at most.
Bytes closed_form_bytes(const Topology& topology);

/// The maximum number of arc-disjoint spanning trees from a root, found by search (packing.cpp): any topology, with holes or without.

/// Deterministic. At most ArcTrees::max_trees. A channel is in as many trees as it has capacity (link_capacities.hpp), where the fastest
/// have `most`.
std::shared_ptr<const ArcTrees> packed_trees(const Machine& machine, NodeId root, std::uint32_t most, PlanCache& cache);
/// Such numbers that are worth a try: 1 and, where channels differ in speed, one with which the trees bring the root's message to the node
/// of the slowest channels in near to the least time.
std::vector<std::uint32_t> packings_to_try(const Machine& machine);

/// How many trees a machine may have.
std::uint32_t most_packed_trees(const Machine& machine) noexcept;

/// Memory that packed_trees() takes at most.
Bytes packing_bytes(const Machine& machine);

/// Whether a search of a machine takes about a second at most; a refusal of those that take longer.
bool small_enough_to_pack(const Topology& topology) noexcept;
std::optional<Refusal> too_large_to_pack(std::string_view algorithm, const Topology& topology);

}  // namespace torus
