/// Barrier by flooding: in every step each node tells all its neighbours what it has heard.
/// Machine  packet, all ports, any shape, no channel shared.
/// Steps    the diameter: the minimum for store-and-forward.   Bytes  0: messages have neither blocks nor header.
/// Source   folklore.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::reduction {

extern const Algorithm flood_barrier;

}  // namespace torus::reduction
