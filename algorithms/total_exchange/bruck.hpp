/// Total exchange in the fewest start-ups of one port, log2 N, where all sides are powers of two: dimension by dimension, for each bit of
/// the offset 0..n-1 forwards, one message carries everything that has the bit 2^bit nodes on (the other way round where that is shorter).
/// A step's messages overlap.
///
/// Machine  wormhole, one port, channels shared, torus of any sides (up to 3: messages of one hop, which any machine takes).
/// Header, memory  as every bundled exchange (bundled_exchange.hpp).
/// Steps    sum over i of ceil(log2 n_i).   Blocks on the busiest channel  sum over i of (N/n_i) sum over bits of
///          min(2^bit, n_i - 2^bit) * (offsets that have the bit): N (n_i - 1)/2 a dimension for powers of two.
/// Source   Bruck, Ho, Kipnis, Upfal, Weathersby, IEEE TPDS 8(11), 1997, dimension by dimension.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::exchange {

extern const Algorithm bruck;

}  // namespace torus::exchange
