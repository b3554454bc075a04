/// Total exchange, dimension by dimension: in each, first everything that has hops left forwards goes on by one, then everything
/// backwards. A node sends one bundle a step; a block that goes half way round travels forwards.
///
/// Machine  packet, one port, torus of any sides.   Header, memory  as every bundled exchange (bundled_exchange.hpp).
/// Steps    sum over i of n_i - 1.   Blocks on the busiest channel  s = sum over i of (N/n_i) floor(n_i^2/4): as many as one by one, since
///          every block goes the shortest way through the one port.
/// Source   folklore: the one-port exchange of [Dimakopoulos & Dimopoulos], combining messages.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::exchange {

extern const Algorithm dimension_wise;

}  // namespace torus::exchange
