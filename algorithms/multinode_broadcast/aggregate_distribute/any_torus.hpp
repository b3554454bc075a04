/// `aggregate-distribute` on tori that are no n x n: h divides every side n_d, q_d = n_d / h.
///
/// The phases are those of the square, each dimension by itself, in ternary: a DCN has h^k nodes and gathers on its diagonal over k - 1
/// dimensions (two dimensions: as the square does). A DDN gathers (align) on its main diagonal, over the dimensions whose q is the largest,
/// at place 0 of the others. If there are several such dimensions, the diagonal exchanges in rounds. If there is one, its line gathers and
/// spreads. Then the DDN spreads (distribute), the windows of its nodes do over k - 1 dimensions (row), and columns are rings.
/// Machine  any torus, wormhole in ascending order, all ports, no channel shared.   Header  as on the square.
/// Steps    (k-1) L3(h), k = 2: L5(h); prefix; tune; 2 sum of L3(q_d) but one of the largest; L3(q) of that, twice if it is alone;
///          (k-1) L3(h) + h - 1.
/// Source   this project: the paper defines the partition of n1 x n2 tori and names higher dimensions as future work.
#pragma once

#include <cstdint>
#include <vector>

#include <torus/program.hpp>
#include <torus/topology.hpp>

#include "algorithms/multinode_broadcast/aggregate_distribute/exchange.hpp"
#include "algorithms/multinode_broadcast/aggregate_distribute/prefix.hpp"
#include "algorithms/multinode_broadcast/diagonal.hpp"
#include "algorithms/multinode_broadcast/line_tree.hpp"

namespace torus::multinode_broadcast::aggregate_distribute {

/// What every node knows beforehand. An immutable value.
class AnyTorus {
 public:
  AnyTorus(const Topology& topology, std::int32_t partition, Prefix prefix_kind);

  bool balances() const noexcept { return h > 1 && kind != Prefix::none; }
  std::int32_t aggregation_steps() const noexcept { return (plane() ? 1 : dimensions_ - 1) * strip_.levels(); }
  std::int32_t balancing_steps() const noexcept;
  std::int32_t steps() const noexcept;
  /// As on the square, for each further dimension too.
  double hops_for_h() const noexcept { return (dimensions_ + 3.0) * h; }
  /// As on the square.
  double channel_bytes(double s, double m) const;

  Program program(Node& self) const;
  /// The frames of the programs that a node's program calls.
  Bytes called_frames(const Machine& machine) const;

  std::int32_t h;
  Prefix kind;

 private:
  bool plane() const noexcept { return dimensions_ == 2; }
  bool alone() const noexcept { return through_.size() == 1; }
  const LineTree& ddn(Dimension d) const noexcept { return ddn_[static_cast<std::size_t>(d)]; }
  std::int32_t align_steps() const noexcept;
  double aggregation_bytes(double s, double m) const;
  std::int32_t diagonal_position(const Node& self, Dimension d) const noexcept;
  bool aligned(const Node& self, Dimension first, Dimension end) const noexcept;
  DiagonalSite window_site(const Node& self, Dimension d, bool member) const noexcept;
  DiagonalSite align_site(const Node& self, std::size_t i) const noexcept;
  Program aggregate(Node& self, Bundle& bundle) const;

  double nodes_;
  Dimension dimensions_;
  LineTree strip_;  ///< W_5(h) in two dimensions, else W_3(h)
  TorusPrefix prefix_;
  TuneMoves tuning_;
  std::vector<LineTree> ddn_;       ///< by dimension: W_3(q_d)
  std::vector<Dimension> through_;  ///< of the largest q, ascending: the first numbers the diagonal
  std::vector<Dimension> align_;    ///< the others, the shortest first, then those but the first
  ExchangeRounds exchange_;
  LineTree row_;  ///< W_3(h)
};

}  // namespace torus::multinode_broadcast::aggregate_distribute
