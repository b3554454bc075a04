/// The tables and the predictions of `hyperplane`. See hyperplane.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <torus/block.hpp>
#include <torus/topology.hpp>

#include "algorithms/multinode_broadcast/line_tree.hpp"
#include "algorithms/multinode_broadcast/plane_exchange.hpp"

namespace torus::multinode {

/// What every node knows beforehand. Block id = (source * pieces + piece) * parts + part.
class HyperplaneScheme {
 public:
  enum class Trees : std::uint8_t {
    lines,     ///< k parts, part a along the lines of axis a, in balanced ternary
    diagonals  ///< whole messages along all axes at once, in the base 2k+1
  };

  /// On n x .. x n nodes; no pieces are dealt.
  HyperplaneScheme(const Topology& topology, Trees trees);
  /// To how many nodes in each of k directions a source deals pieces first: 0 .. farthest().
  void deal_to(std::int32_t reach) noexcept { reach_ = reach; }
  std::int32_t farthest() const noexcept { return k_ < 2 ? 0 : 3; }

  std::uint32_t parts() const noexcept { return trees_ == Trees::lines ? std::max<std::uint32_t>(1, k_) : 1; }
  std::uint32_t pieces() const noexcept { return 1 + k_ * static_cast<std::uint32_t>(reach_); }
  std::uint32_t segments() const noexcept { return parts() * pieces(); }
  std::int32_t reach() const noexcept { return reach_; }
  Trees trees() const noexcept { return trees_; }
  std::uint64_t steps() const noexcept { return static_cast<std::uint64_t>(reach_ + 2 * tree_.levels()) + exchange_.steps(); }
  const LineTree& tree() const noexcept { return tree_; }
  const PlaneExchange& exchange() const noexcept { return exchange_; }
  std::span<const Dimension> axes() const noexcept { return axes_; }

  /// The place of a node in the trees: the sum of its coordinates. 0: it lies in the plane.
  std::int32_t position(const Coordinates& at) const noexcept;
  NodeId rank_in_plane(const Coordinates& at) const noexcept;
  /// The node of the plane to which a block is gathered.
  NodeId owner_of(const Topology& topology, BlockId block) const;
  std::uint32_t part_of(BlockId block) const noexcept { return block % parts(); }
  /// Of a piece: 0 stays; piece 1 + a reach + (e-1) goes e places by move a.
  std::uint32_t piece_of(BlockId block) const noexcept { return block / parts() % pieces(); }

  /// Sum over the steps of the most bytes on a channel, for s sources of m bytes: exact for s = all, else for random ones, about.
  double channel_bytes(double s, Bytes m) const;
  Bytes table_bytes() const noexcept { return exchange_.table_bytes() + owners_.size() * sizeof(NodeId); }

 private:
  double exact_channel_bytes(Bytes m) const;
  double dealing_bytes(Bytes m) const;
  Coordinates gathered(Coordinates at, std::uint32_t part) const;

  std::vector<Dimension> axes_;
  std::uint32_t k_;
  std::int32_t n_, reach_ = 0;
  Trees trees_;
  LineTree tree_;
  PlaneExchange exchange_;
  double nodes_;
  std::vector<NodeId> owners_;  // by part, and by node
};

}  // namespace torus::multinode
