/// The arc-disjoint spanning trees of all sources, and the trees for counting the sources. See edst.hpp.
#pragma once

#include <span>
#include <vector>

#include <torus/block.hpp>
#include <torus/machine.hpp>
#include <torus/route.hpp>
#include <torus/topology.hpp>

#include "algorithms/common/rooted_trees.hpp"
#include "algorithms/multinode_broadcast/line_tree.hpp"

namespace torus::multinode {

/// What every node knows beforehand.
class Forest {
 public:
  /// segments: a multiple of the number of trees (1 if there is none).
  Forest(const Topology& topology, std::uint32_t segments);

  std::uint32_t trees() const noexcept { return trees_.trees(); }
  std::uint32_t segments() const noexcept { return segments_; }
  std::uint32_t height() const noexcept { return trees_.height(); }
  std::span<const Dimension> axes() const noexcept { return trees_.axes(); }
  /// For the counting, a tree for each axis.
  std::span<const LineTree> counting() const noexcept { return counting_; }
  std::uint32_t counting_steps() const noexcept;
  Bytes table_bytes() const noexcept { return trees_.table_bytes(); }

  /// The directions in which a node passes a block on, a bit each.
  std::uint16_t onward(const Topology& topology, NodeId at, BlockId block) const noexcept {
    return trees_.onward(topology, at, block, segments_);
  }
  /// The leg of a direction.
  Leg leg(Direction d) const noexcept { return trees_.leg(d); }

  /// Synchronous: sum over the steps of the most bytes on a channel; exact if all nodes are sources, else for random ones, about.
  double channel_bytes(double s, Bytes m) const;

 private:
  RootedTrees trees_;
  std::uint32_t segments_;
  std::vector<LineTree> counting_;
};

}  // namespace torus::multinode
