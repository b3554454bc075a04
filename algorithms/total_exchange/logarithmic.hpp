/// Total exchange in a logarithmic number of steps, each block on a shortest way: dimension by dimension, for each bit of the hops that a
/// block has to go forwards (then backwards), one message of 2^bit hops carries everything that has the bit. A step's messages overlap: a
/// channel carries 2^bit of them, no more bytes in all than hop by hop.
///
/// Machine  wormhole, one port, channels shared, torus of any sides (up to 3: messages of one hop, which any machine takes).
/// Header, memory  as every bundled exchange (bundled_exchange.hpp).
/// Steps    sum over i of bl(floor(n_i/2)) + bl(floor((n_i-1)/2)), bl the length in bits.
///          Blocks on the busiest channel  s = sum over i of (N/n_i) floor(n_i^2/4).
/// Source   this project: Bruck et al. in both directions, so that no block goes a longer way than it must.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::exchange {

extern const Algorithm logarithmic;

}  // namespace torus::exchange
