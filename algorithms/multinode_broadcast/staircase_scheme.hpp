/// `log` on unequal sides a < b: gather to the stations of a staircase, a ternary exchange among them, and back.
///
/// w and what becomes of the spare lines are chosen for the fewest steps. 12x40: 36 stations, the other 4 lines folded, 2 + 4 + 2
/// steps. Where b is many times a, fewer stations are better than long ways along: a round's t is at most a.
/// Machine  2-D torus, wormhole in ascending order, all ports, no channel shared.
/// Steps    2 levels (staircase.hpp) + the rounds of the exchange: L3(w a) if no t has to be shortened.   Header  see diagonal_exchange.
/// Source   this project.
#pragma once

#include <torus/program.hpp>

#include "algorithms/multinode_broadcast/diagonal_exchange.hpp"
#include "algorithms/multinode_broadcast/staircase.hpp"

namespace torus::multinode {

struct StaircaseScheme {
  /// The fewest steps; among those the fewest levels, since each step of the spread carries all messages.
  explicit StaircaseScheme(const Topology& topology);
  std::int32_t steps() const noexcept { return 2 * stairs.levels() + exchange.steps(); }
  /// Sum over the steps of the most bytes on a channel, for s sources of m bytes: exact for s = all, else for random ones, about.
  double channel_bytes(double s, double m) const;

  Staircase stairs;
  ExchangeRounds exchange;

 private:
  StaircaseScheme(Staircase&& staircase, std::int32_t a);
};

Program staircase_program(Node& self, const StaircaseScheme& scheme);

}  // namespace torus::multinode
