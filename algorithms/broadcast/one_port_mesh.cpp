#include "algorithms/broadcast/one_port_mesh.hpp"

#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace torus::broadcast {

refusal::Refusal refuses_wiring(std::string_view algorithm, const Machine& machine) {
  if (machine.topology.is_torus_or_mesh()) return std::nullopt;
  return std::string(algorithm) + " goes along rings and lines: " + machine.topology.text() +
         " has a complete dimension, the same extents without c would do";
}

refusal::Refusal refuses_extents(std::string_view algorithm, const Machine& machine) {
  const Topology& topology = machine.topology;
  std::vector<DimensionShape> shape(topology.shape().begin(), topology.shape().end());
  for (DimensionShape& dimension : shape) {
    dimension.extent = static_cast<std::int32_t>(std::bit_floor(static_cast<std::uint32_t>(dimension.extent)));
  }
  const Topology below(std::move(shape));
  if (below.nodes() == topology.nodes()) return std::nullopt;
  return std::string(algorithm) + " needs extents that are powers of two: " + topology.text() + " has others, " + below.text() +
         " would do";
}

}  // namespace torus::broadcast
