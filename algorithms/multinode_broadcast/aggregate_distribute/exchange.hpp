/// All-to-all on the main diagonal of a (dilated) square torus: every diagonal node ends with what all of them had.
///
/// A node knows the bundles of a window of positions around its own, which a round makes up to five times as wide: it takes from the
/// nodes t and 2t places away on both sides what it lacks. The near ones send straight, over both dimensions; the far ones over a relay in
/// its column, one step earlier, since only two of four routes can end in a node along the same dimension. The ternary form takes
/// from the near ones alone, in one step a round: never worse, and not in the paper.
/// On unequal sides the positions are the stations of a staircase: those that stand in one line along are a apart, and t is at most a.
/// The ternary form also runs on a diagonal of three or more equal sides: the sender's place is on all legs of a route but the last.
/// Machine  square 2-D torus, or any with a staircase; ternary: equal sides of any torus; wormhole in ascending order, all ports.
/// Steps    quinary 2 ceil(log5 q), one less if at most two positions are left for the last round; ternary ceil(log3 q).
/// Header   lengths of a message's bundles but the last, if it has several and a later round asks for them (never for q <= 25).
/// Source   Chen, Chen & Tseng, section 3.2.2 (all-to-all broadcasting on the diagonal); the ternary form: this project.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include <torus/program.hpp>

#include "algorithms/multinode_broadcast/line_tree.hpp"

namespace torus::multinode_broadcast::aggregate_distribute {

class Staircase;

/// What happens in each round: a function of q (and of the farthest t) alone.
struct ExchangeRounds {
  /// In a round a node takes `near[side]` positions from the node t away and `far[side]` from the one 2t away; side 0 is +, 1 is -.
  struct Round {
    std::int32_t reach;  ///< positions known on each side before the round
    std::int32_t t;
    std::array<std::int32_t, 2> near;
    std::array<std::int32_t, 2> far;
    bool last;
    bool relayed() const noexcept { return far[0] + far[1] > 0; }
    std::int32_t widest() const noexcept;  ///< positions of the longest message
  };

  /// farthest: what t may be, if less than the rounds would have it. For the ternary form.
  ExchangeRounds(std::int32_t positions, bool ternary, std::int32_t farthest = INT32_MAX);

  std::int32_t steps() const noexcept;
  /// The most positions that cross a channel in each step.
  std::vector<std::int32_t> step_payloads() const;
  /// Header words of each step's messages.
  std::vector<std::int32_t> step_words() const;

  std::int32_t q;
  std::vector<Round> rounds;
};

/// Where a node stands: on the diagonal or not, at which position, and how many hops lie between two positions.
struct ExchangeSite {
  bool member = false;
  std::int32_t position = 0;
  std::int32_t unit = 1;
  const Staircase* stairs = nullptr;        ///< on unequal sides: where the positions stand; ternary alone, t <= the shorter side
  std::span<const Dimension> through = {};  ///< ternary: the dimensions that the diagonal runs through, ascending; none: 0 and 1
};

/// Called by every node; others than the members only relay.
Program exchange_on_diagonal(Node& self, const ExchangeRounds& rounds, ExchangeSite site, Bundle& bundle);

}  // namespace torus::multinode_broadcast::aggregate_distribute
