/// Total exchange that keeps every channel busy with few start-ups. The classes fall into k groups, (sum of delta_i) mod k; in stage
/// s = 0..k-1 group g travels in dimension (g + s) mod k, hop by hop, both directions at once. A block that goes half way round travels
/// forwards or backwards, class about within dimension and group. (k counts the dimensions of more than one node.)
///
/// Machine  packet, all ports, torus of any sides.   Header, memory  as every bundled exchange (bundled_exchange.hpp).
/// Steps    k max floor(n_i/2): the diameter where all sides are equal.
///          Blocks on the busiest channel  the bound max over i of ceil((N/n_i) floor(n_i^2/4) / 2) if k divides every side and
///          N/(k n_i) is even for every even n_i, else a few more.
/// Source   this project.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::exchange {

extern const Algorithm rotating;

}  // namespace torus::exchange
