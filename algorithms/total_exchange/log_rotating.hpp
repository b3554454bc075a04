/// The rotating exchange (rotating.hpp) in a logarithmic number of steps: in a stage, for each bit of the hops that a block has to go,
/// one message of 2^bit hops along every channel carries everything that has the bit. A step's messages overlap: a channel carries 2^bit of
/// them.
///
/// Machine  wormhole, all ports, channels shared, torus of any sides (up to 3: messages of one hop, which any machine takes).
/// Header, memory  as every bundled exchange (bundled_exchange.hpp).
/// Steps    k max bl(floor(n_i/2)), bl the length in bits.   Blocks on the busiest channel  as rotating or slightly more.
/// Source   this project.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::exchange {

extern const Algorithm log_rotating;

}  // namespace torus::exchange
