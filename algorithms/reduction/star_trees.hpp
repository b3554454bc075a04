/// All-reduce of a piece among the nodes of each class at once, by worms: stars of stars up, an exchange among the few that are left, down.
///
/// Up: step by step the nodes of a class send to centres (star_packing). The way down is a way up, backwards, for the machine with the
/// routing order reversed (see transfers.hpp). The two meet where each node that is left on the one can send to all that are left on the
/// other in one step. Either the way down is searched for freely, or so that it ends with nodes that the way up ends with, too; what takes
/// fewer steps is taken.
/// Source   this project.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "algorithms/reduction/star_packing.hpp"

namespace torus::reduction {

/// The worms, by step, in the order of their senders.
struct StarTrees {
  static StarTrees pack(const Machine& machine, const Sublattice& classes);

  std::size_t steps() const noexcept { return up.size() + (exchange.empty() ? 0 : 1) + down.size(); }
  static std::span<const Worm> of(const Worms& worms, NodeId sender) noexcept;
  /// Sums over the steps: of the most pieces that a node combines, and of the hops of the longest route.
  std::uint64_t combined() const;
  std::uint64_t hops() const noexcept;
  Bytes table_bytes() const noexcept;

  std::vector<Worms> up;
  Worms exchange;               ///< none: one node a class is left, the same both ways
  std::vector<bool> exchanged;  ///< nodes that hold a partial before the exchange
  std::vector<Worms> down;
};

}  // namespace torus::reduction
