/// Arc-disjoint spanning trees from one root, as a table by node: which tree each channel belongs to, the way to each parent, the depth.
/// What every node knows beforehand. The trees span the living nodes; dead ones have no entries.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include <torus/machine.hpp>
#include <torus/route.hpp>
#include <torus/topology.hpp>

namespace torus {

class ArcTrees {
 public:
  static constexpr std::uint8_t no_tree = 0xff;
  static constexpr std::uint32_t most_trees = 64;
  /// That a machine may have.
  static std::uint32_t most(const Topology& topology) noexcept {
    return std::min(most_trees, static_cast<std::uint32_t>(topology.max_ports()));
  }

  ArcTrees(const Topology& topology, NodeId root, std::uint32_t trees);

  /// Adds the channel of a leg from a node that is in the tree already.
  void add(const Topology& topology, std::uint32_t tree, NodeId from, Leg leg, NodeId to);

  NodeId root() const noexcept { return root_; }
  /// 0 where no node but the root lives.
  std::uint32_t trees() const noexcept { return trees_; }
  std::uint32_t height() const noexcept { return trees_ == 0 ? 0 : *std::max_element(heights_.begin(), heights_.end()); }
  std::uint32_t height(std::uint32_t tree) const noexcept { return heights_[tree]; }
  /// Arcs from the root.
  std::uint32_t depth(NodeId node, std::uint32_t tree) const noexcept { return depths_[at(node, tree)]; }
  /// None at the root and at dead nodes.
  std::optional<Leg> to_parent(NodeId node, std::uint32_t tree) const noexcept {
    const std::uint16_t slot = parents_[at(node, tree)];
    return slot == no_slot ? std::nullopt : std::optional(legs_[slot]);
  }
  /// Calls f(tree, leg) for each child of a node in any tree, in the order of the channel slots.
  template <class F>
  void each_child(NodeId node, F&& f) const {
    const std::uint8_t* const of_slot = &tree_of_channel_[std::size_t{node} * legs_.size()];
    for (std::size_t slot = 0; slot < legs_.size(); ++slot) {
      if (of_slot[slot] != no_tree) f(std::uint32_t{of_slot[slot]}, legs_[slot]);
    }
  }

  Bytes table_bytes() const noexcept { return tree_of_channel_.size() + parents_.size() * 2 + depths_.size() * 4; }
  /// Of a table of so many trees.
  static Bytes table_bytes(const Topology& topology, std::uint32_t trees) noexcept {
    return Bytes{topology.nodes()} * (static_cast<Bytes>(topology.channel_slots()) + Bytes{6} * trees);
  }

 private:
  static constexpr std::uint16_t no_slot = 0xffff;
  std::size_t at(NodeId node, std::uint32_t tree) const noexcept { return std::size_t{node} * trees_ + tree; }

  NodeId root_;
  std::uint32_t trees_;
  std::vector<Leg> legs_;                      // by slot
  std::vector<std::uint8_t> tree_of_channel_;  // by node and slot
  std::vector<std::uint16_t> parents_;         // slots, by node and tree
  std::vector<std::uint32_t> depths_;          // by node and tree
  std::vector<std::uint32_t> heights_;         // by tree
};

}  // namespace torus
