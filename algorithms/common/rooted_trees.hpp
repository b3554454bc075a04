/// The arc-disjoint spanning trees of every source on a machine: those of node 0, moved. What every node knows beforehand.
///
/// Node v stands in source o's trees at displacement v - o, so one table serves all sources. Blocks are dealt out: block y of a source's
/// message travels in tree y mod 2k.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <torus/block.hpp>
#include <torus/requirements.hpp>
#include <torus/route.hpp>
#include <torus/topology.hpp>

#include "algorithms/common/spanning_trees.hpp"

namespace torus {

class RootedTrees {
 public:
  explicit RootedTrees(const Topology& topology);

  const SpanningTrees& of_node_0() const noexcept { return trees_; }
  /// 2k, k axes; 0 for a single node.
  std::uint32_t trees() const noexcept { return trees_.trees(); }
  std::uint32_t height() const noexcept { return trees_.height(); }
  /// The dimensions of more than one node.
  std::span<const Dimension> axes() const noexcept { return axes_; }
  Bytes table_bytes() const noexcept { return children_.size() * (sizeof(std::uint16_t) + sizeof(Direction)); }

  /// The directions in which a node passes on a block of a message that has `segments` of them, a multiple of the trees: a bit each.
  std::uint16_t onward(const Topology& topology, NodeId at, BlockId block, std::uint32_t segments) const noexcept;
  /// The leg of a direction.
  Leg leg(Direction d) const noexcept { return {axes_[d / 2], d % 2 == 0 ? +1 : -1}; }

  /// Trees that a message is dealt out to: 2k, but 1 for a single node.
  static std::uint32_t shares(const Topology& topology);
  /// At most 8 axes have trees.
  static std::optional<Refusal> refuses(std::string_view algorithm, const Topology& topology);
  /// Memory that making them takes at most.
  static Bytes planning_bytes(const Topology& topology);

 private:
  std::vector<Dimension> axes_;
  SpanningTrees trees_;
  std::vector<std::uint16_t> children_;  ///< by displacement and tree
};

}  // namespace torus
