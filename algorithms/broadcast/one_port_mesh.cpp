// SPDX-License-Identifier: MIT
#include "algorithms/broadcast/one_port_mesh.hpp"

#include <bit>

namespace torus::broadcast {

std::optional<std::string> refuses_machine(std::string_view algorithm, const Machine& machine, Switching needed) {
  const std::string who{algorithm};
  if (!machine.topology.is_torus_or_mesh()) {
    return who + " goes along rings and lines: " + machine.topology.text() + " has a complete dimension, the same extents without c would do";
  }
  if (!allows(machine.switching, needed)) {
    return who + " sends over several hops a step: --switching " + std::string(name(machine.switching)) + " is too weak, --switching " +
           std::string(name(needed)) + " would do";
  }
  return std::nullopt;
}

std::optional<std::string> refuses_segments(std::string_view algorithm, const Request& request, std::uint64_t wanted) {
  if (request.segments == 0 || request.segments == wanted) return std::nullopt;
  return std::string(algorithm) + (wanted == 1 ? " does not cut the message" : " cuts the message in one piece a node") + ": --segments " +
         std::to_string(request.segments) + " is not possible, --segments " + std::to_string(wanted) + " would do";
}

std::optional<std::string> refuses_extents(std::string_view algorithm, const Machine& machine) {
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
