/// Multi-node broadcast by aggregation, then distribution, with the prefix-sum load balancing in between. The sources are not known.
///
/// A torus of n x n nodes is h dilated tori of q x q nodes (DDN_k: rows and columns = k mod h; q = n/h), whose links are disjoint, and
/// q x q blocks of h x h nodes (DCNs). Messages gather on the diagonals of the DCNs (aggregate), learn their ranks (prefix), move to the
/// DDN that the rank asks for (tune), gather on the DDN's main diagonal (align), are exchanged along it (all-to-all), spread in the DDN
/// (distribute), and then in the DCNs along the rows (row) and round the columns (column).
/// Machine  square 2-D torus, wormhole in ascending order, all ports, no channel shared.   Memory  O(s) words a node.
/// Steps    L5(h) + prefix + tune + 2 L5(q) + exchange(q) + L3(h) + h - 1, whatever the sources; L5 = ceil(log5), L3 = ceil(log3).
/// Header   see prefix, tune and diagonal_exchange; data messages have none for h <= 5, q <= 25.
/// Source   Chen, Chen & Tseng, Multi-Node Broadcasting Using an Aggregation-then-Distribution Strategy,
///          made sound: see properties.md.
#pragma once

#include <torus/algorithm.hpp>

#include "algorithms/multinode_broadcast/diagonal_exchange.hpp"
#include "algorithms/multinode_broadcast/line_tree.hpp"
#include "algorithms/multinode_broadcast/prefix.hpp"
#include "algorithms/multinode_broadcast/tune.hpp"

namespace torus::multinode {

extern const Algorithm aggregate_distribute;

/// What every node knows beforehand: tables that follow from n, h and the choice of prefix sum.
struct AggregateDistribute {
  AggregateDistribute(std::int32_t nodes_a_side, std::int32_t partition, Prefix prefix_kind, bool ternary_exchange = false);

  bool balances() const noexcept { return h > 1 && prefix.kind != Prefix::none; }
  std::int32_t balancing_steps() const noexcept { return balances() ? prefix.steps() + tuning.steps() : 0; }
  std::int32_t steps() const noexcept;
  /// Hops that grow with h, about: for the choice of h. Aggregation and row cross h/2 each, tuning and column ring 2h each.
  double hops_for_h() const noexcept { return 5.0 * h; }
  /// Sum over the steps of the most bytes on a channel, for s sources of m bytes: exact for s = n^2, else for random ones, about.
  double channel_bytes(double s, double m) const;

  std::int32_t n, h, q;
  LineTree strip;  ///< W_5(h): the diagonals that one DCN diagonal gathers
  PrefixTables prefix;
  TuneMoves tuning;
  LineTree ddn;  ///< W_5(q): the diagonals of a DDN
  ExchangeRounds exchange;
  LineTree row;  ///< W_3(h)
};

/// The program of a node; a source is who holds a block.
Program aggregate_distribute_program(Node& self, const AggregateDistribute& scheme);

}  // namespace torus::multinode
