/// The rotating exchange (rotating.hpp) in steps of base 3: the hops that a block has to go round a ring of n are written as a sum of
/// weights, each taken forwards, backwards or not at all. In a stage, for each weight, one message of so many hops along every channel
/// carries what takes the weight in its direction. A step's messages overlap: a channel carries as many of them as the weight.
///
/// Weights 1, 3, 9, .., 3^(L-2) and ceil((n - 3^(L-1))/2), L = ceil(log_3 n): with these every displacement has a sum. Of its sums those of
/// the fewest hops count; classes that have several balance the directions.
/// Machine  wormhole, all ports, channels shared, torus of any sides (up to 5: messages of one hop, which any machine takes).
/// Header, memory  as every bundled exchange (bundled_exchange.hpp).
/// Steps    k max ceil(log_3 n_i): log-rotating has k max bl(floor(n_i/2)), 8 against 6 on 16x16.
///          Blocks on the busiest channel  on a ring 1 to 1.5 times the minimum, n^2/8; 1.33 from n = 9 on.
/// Source   this project; base 3 after Juerss & Schmid, ReTri.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::exchange {

extern const Algorithm ternary_rotating;

}  // namespace torus::exchange
