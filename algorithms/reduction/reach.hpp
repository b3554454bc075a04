/// Distances on a line.
#pragma once

#include <cstdint>

#include <torus/topology.hpp>

namespace torus::reduction {

/// The most steps that data needs from a node to another of its line, one hop a step.
constexpr std::int32_t reach(const DimensionShape& line) noexcept {
  switch (line.wiring) {
    case Wiring::ring: return line.extent / 2;
    case Wiring::line: return line.extent - 1;
    case Wiring::complete: return line.extent > 1 ? 1 : 0;
  }
  return 0;
}

}  // namespace torus::reduction
