/// When a run without traffic is a hang.
#pragma once

#include <cstdint>

#include <torus/topology.hpp>

namespace torus::detail {

/// Consecutive steps without traffic that a run may have, where RunOptions::idle_steps is 0.
inline std::uint64_t usual_idle_steps(const Topology& topology) {
  std::uint64_t sides = 0;
  for (const DimensionShape& dimension : topology.shape()) sides += static_cast<std::uint64_t>(dimension.extent);
  return 64 + 4 * sides;
}

}  // namespace torus::detail
