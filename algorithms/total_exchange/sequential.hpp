/// Total exchange, dimension by dimension, in both directions at once: everything that has hops left in the dimension goes on by one.
/// A block that goes half way round travels forwards or backwards, class about.
///
/// Machine  packet, two ports, torus of any sides.   Header, memory  as every bundled exchange (bundled_exchange.hpp).
/// Steps    sum over i of floor(n_i/2), the diameter: no exchange hop by hop takes fewer.
///          Blocks on the busiest channel  s/2, s = sum over i of (N/n_i) floor(n_i^2/4), and n_i/4 more for even n_i with N/n_i odd.
/// Source   folklore; the ties as in this project's all-port exchanges.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::exchange {

extern const Algorithm sequential;

}  // namespace torus::exchange
