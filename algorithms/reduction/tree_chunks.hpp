/// What all nodes know of a reduction over arc-disjoint trees: the trees from its root, and which chunk is where when.
#pragma once

#include <cstdint>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/common/rooted_trees.hpp"

namespace torus::reduction {

class TreeChunks {
 public:
  TreeChunks(const Topology& topology, NodeId root);

  std::uint32_t trees() const noexcept { return trees_.trees(); }
  std::uint32_t height() const noexcept { return trees_.height(); }
  /// Arcs from the root to a node in a tree.
  std::uint32_t depth(const Topology& topology, NodeId node, std::uint32_t tree) const noexcept {
    return depths_[displacement(topology, node) * trees() + tree];
  }
  /// The leg from a node to its parent in a tree. Not of the root.
  Leg to_parent(const Topology& topology, NodeId node, std::uint32_t tree) const noexcept {
    return trees_.leg(reverse(trees_.of_node_0().entry(static_cast<std::uint32_t>(displacement(topology, node)), tree)));
  }
  /// The directions of the children: a bit each.
  std::uint16_t to_children(const Topology& topology, NodeId node, std::uint32_t tree) const noexcept {
    return trees_.onward(topology, node, root_ * trees() + tree, trees());
  }
  Leg leg(Direction d) const noexcept { return trees_.leg(d); }

  /// Steps of a half, with so many chunks a tree.
  std::uint64_t steps(std::uint64_t chunks) const noexcept { return trees() == 0 ? 0 : height() + chunks - 1; }
  /// Sums over the steps of the most on a channel, up and down, and combined by a node, in elements, if the first segments are one longer.
  std::uint64_t up(std::uint64_t elements, std::uint64_t chunks) const;
  std::uint64_t down(std::uint64_t elements, std::uint64_t chunks) const;
  std::uint64_t combined(const Topology& topology, std::uint64_t elements, std::uint64_t chunks) const;

  Bytes table_bytes() const noexcept { return trees_.table_bytes() + depths_.size() * sizeof(std::uint32_t); }

 private:
  std::size_t displacement(const Topology& topology, NodeId node) const noexcept;
  /// The steps in which a chunk that is an element longer is on its way: of tree r from first(height of r) on.
  template <class First>
  std::uint64_t elements_on_channels(std::uint64_t elements, std::uint64_t chunks, First&& first) const;

  NodeId root_;
  RootedTrees trees_;
  std::vector<std::uint32_t> depths_;   // by displacement and tree
  std::vector<std::uint32_t> heights_;  // by tree
};

}  // namespace torus::reduction
