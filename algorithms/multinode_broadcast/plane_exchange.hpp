/// All-gather among the nodes whose coordinates add up to 0 modulo n, in an n x .. x n torus of k dimensions: n^(k-1) nodes, its plane.
///
/// Move a of a step goes d places forwards along axis a and d backwards along axis a+1, cyclically, so that it stays in the plane. Each
/// line of the torus has one node of the plane. So if all nodes make the k moves of a step at once, a channel carries one message at most,
/// for any d < n, in any routing order. A node that has heard of w nodes then has heard of (k+1) w.
/// Steps    ceil(log_{k+1} n^(k-1)), at times 1 more: those for which distances d are found. For k = 2 they are 3^j, for k = 3 and n = 2^p
///          2^j.
/// Source   this project; what goes by which move: reduction/lattice_table.hpp, backwards.
#pragma once

#include <optional>
#include <vector>

#include <torus/machine.hpp>
#include <torus/topology.hpp>

#include "algorithms/reduction/lattice_table.hpp"

namespace torus::multinode {

/// What every node knows beforehand. Nodes of the plane are named by their coordinates but the last: ranks of a torus of k-1 dimensions.
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
  std::vector<reduction::Offset> offsets_of(std::int32_t distance) const;
  std::optional<std::vector<std::int32_t>> distances_for(std::size_t steps) const;

  std::size_t moves_ = 0;
  std::int32_t n_;
  std::optional<Topology> plane_;
  std::optional<reduction::LatticeTable> table_;
  std::vector<std::int32_t> distances_;                 // by step
  std::vector<std::vector<std::vector<bool>>> passes_;  // by step, move, and displacement of the owner from the end
};

}  // namespace torus::multinode
