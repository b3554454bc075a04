/// The patterns of `direct` on one ring. See direct.cpp.
#pragma once

#include <cstdint>
#include <vector>

namespace torus::total_exchange {

/// What one coordinate of a ring does in one class.
struct RingMove {
  std::int32_t pattern = 0;   ///< 0..n/4-1
  std::int32_t forward = 0;   ///< hops in the forward pattern, 0..n/2
  std::int32_t backward = 0;  ///< hops in the backward pattern, -n/2..0
};

/// The moves of all n coordinates in the n/2 classes of a ring, class by class: entry class * n + coordinate. n a multiple of 4.
std::vector<RingMove> ring_patterns(std::int32_t n);

}  // namespace torus::total_exchange
