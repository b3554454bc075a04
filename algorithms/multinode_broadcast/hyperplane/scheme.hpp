/// The tables and the predictions of `hyperplane`, and its program. See hyperplane.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <torus/block.hpp>
#include <torus/program.hpp>
#include <torus/topology.hpp>

#include "algorithms/multinode_broadcast/line_tree.hpp"
#include "algorithms/search/lattice_table.hpp"

namespace torus::multinode_broadcast::hyperplane {

/// All-gather among the nodes whose coordinates add up to 0 modulo n, in an n x .. x n torus of k dimensions: n^(k-1) nodes, its plane.
///
/// Move a of a step goes d places forwards along axis a and d backwards along axis a+1, cyclically, so that it stays in the plane. Each
/// line of the torus has one node of the plane. So if all nodes make the k moves of a step at once, a channel carries one message at most,
/// for any d < n, in any routing order. A node that has heard of w nodes then has heard of (k+1) w.
/// Steps    ceil(log_{k+1} n^(k-1)), at times 1 more: those for which distances d are found. For k = 2 they are 3^j, for k = 3 and n = 2^p
///          2^j.
/// Source   this project; what goes by which move: search/lattice_table.hpp, backwards.
///
/// Nodes of the plane are named by their coordinates but the last: ranks of a torus of k-1 dimensions.
class PlaneExchange {
 public:
  /// On k axes of n nodes.
  PlaneExchange(std::size_t k, std::int32_t n);

  std::size_t steps() const noexcept { return distances_.size(); }
  std::size_t moves() const noexcept { return moves_; }
  /// Nodes of the plane.
  NodeId nodes() const noexcept { return table_ ? plane_->nodes() : 1; }
  /// Places that the moves of a step go.
  std::int32_t distance(std::size_t step) const noexcept { return distances_[step]; }
  /// The node that a move leads to.
  NodeId end_of(std::size_t step, std::size_t move, NodeId from) const;
  /// Whether a node passes on by a move what began at the node `owner`.
  bool passes(std::size_t step, std::size_t move, NodeId end, NodeId owner) const;
  /// The most nodes whose bundles go by one move of a step.
  std::size_t most_bundles(std::size_t step) const noexcept;
  Bytes table_bytes() const noexcept { return Bytes{nodes()} * steps() * moves_; }

 private:
  /// The offsets of all moves of a step, which reduce-scatters go by and all-gathers come back.
  std::vector<LatticeTable::Offset> offsets_of(std::int32_t distance) const;
  std::optional<std::vector<std::int32_t>> distances_for(std::size_t steps) const;

  std::size_t moves_ = 0;
  std::int32_t n_;
  std::optional<Topology> plane_;
  std::optional<LatticeTable> table_;
  std::vector<std::int32_t> distances_;                 // by step
  std::vector<std::vector<std::vector<bool>>> passes_;  // by step, move, and displacement of the owner from the end
};

/// What every node knows beforehand. Block id = (source * pieces + piece) * parts + part.
class HyperplaneScheme {
 public:
  enum class Trees : std::uint8_t {
    lines,     ///< k parts, part a along the lines of axis a, in balanced ternary
    diagonals  ///< whole messages along all axes at once, in the base 2k+1
  };

  /// On n x .. x n nodes; no pieces are dealt.
  HyperplaneScheme(const Topology& topology, Trees trees);
  /// The same scheme, where a source first deals pieces to `reach` nodes in each of k directions: 0 .. farthest(). Shares the tables.
  HyperplaneScheme dealing_to(std::int32_t reach) const;
  std::int32_t farthest() const noexcept { return k_ < 2 ? 0 : 3; }

  std::uint32_t parts() const noexcept { return trees_ == Trees::lines ? std::max<std::uint32_t>(1, k_) : 1; }
  std::uint32_t pieces() const noexcept { return 1 + k_ * static_cast<std::uint32_t>(reach_); }
  std::uint32_t segments() const noexcept { return parts() * pieces(); }
  std::int32_t reach() const noexcept { return reach_; }
  Trees trees() const noexcept { return trees_; }
  std::uint64_t steps() const noexcept { return static_cast<std::uint64_t>(reach_ + 2 * tree_.levels()) + exchange().steps(); }
  const LineTree& tree() const noexcept { return tree_; }
  const PlaneExchange& exchange() const noexcept { return tables_->exchange; }
  std::span<const Dimension> axes() const noexcept { return axes_; }

  /// The place of a node in the trees: the sum of its coordinates. 0: it lies in the plane.
  std::int32_t position(const Coordinates& at) const noexcept;
  NodeId rank_in_plane(const Coordinates& at) const noexcept;
  /// The node of the plane to which a block is gathered.
  NodeId owner_of(const Topology& topology, BlockId block) const;
  std::uint32_t part_of(BlockId block) const noexcept { return block % parts(); }
  /// The number of a block's piece: 0 stays; piece 1 + a reach + (e-1) goes e places by move a.
  std::uint32_t piece_of(BlockId block) const noexcept { return block / parts() % pieces(); }

  /// Sum over the steps of the most bytes on a channel, for s sources of m bytes: exact for s = all, else for random ones, about.
  double channel_bytes(double s, Bytes m) const;
  Bytes table_bytes() const noexcept { return exchange().table_bytes() + tables_->owners.size() * sizeof(NodeId); }

 private:
  struct Tables {
    PlaneExchange exchange;
    std::vector<NodeId> owners;  ///< by part, and by node
  };

  double exact_channel_bytes(Bytes m) const;
  double dealing_bytes(Bytes m) const;
  Coordinates gathered(Coordinates at, std::uint32_t part) const;

  std::vector<Dimension> axes_;
  std::uint32_t k_;
  std::int32_t n_, reach_ = 0;
  Trees trees_;
  LineTree tree_;
  std::shared_ptr<const Tables> tables_;
  double nodes_;
};

/// Every node's bundle ends with the ids of all: of blocks, or of blocks in whose place words travel.
Program hyperplane_program(Node& self, const HyperplaneScheme& scheme, Cargo cargo, Bundle& bundle);

}  // namespace torus::multinode_broadcast::hyperplane
