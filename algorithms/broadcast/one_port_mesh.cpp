// SPDX-License-Identifier: MIT
#include "algorithms/broadcast/one_port_mesh.hpp"

#include <bit>
#include <cstdint>
#include <string>

namespace torus::broadcast {

refusal::Refusal refuses_wiring(std::string_view algorithm, const Machine& machine) {
  if (machine.topology.is_torus_or_mesh()) return std::nullopt;
  return std::string(algorithm) + " goes along rings and lines: " + machine.topology.text() +
         " has a complete dimension, the same extents without c would do";
}

refusal::Refusal refuses_extents(std::string_view algorithm, const Machine& machine) {
  for (Dimension d = 0; d < machine.topology.dimensions(); ++d) {
    const auto extent = static_cast<std::uint32_t>(machine.topology.extent(d));
    if (!std::has_single_bit(extent)) {
      return std::string(algorithm) + " needs extents that are powers of two: " + std::to_string(extent) + " of dimension " +
             std::to_string(d) + " is none, " + std::to_string(std::bit_floor(extent)) + " would do";
    }
  }
  return std::nullopt;
}

}  // namespace torus::broadcast
