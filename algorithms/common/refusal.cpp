#include "algorithms/common/refusal.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace torus::refusal {

Refusal of_switching(std::string_view algorithm, const Machine& machine, Switching needed) {
  if (allows(machine.switching, needed)) return std::nullopt;
  return std::string(algorithm) + " needs " + std::string(name(needed)) + " switching, not " + std::string(name(machine.switching)) +
         ": --switching " + std::string(name(needed)) + " would do";
}

Refusal of_switching_along(std::string_view algorithm, const Machine& machine) {
  const auto shape = machine.topology.shape();
  const bool single_hops =
      std::all_of(shape.begin(), shape.end(), [](const DimensionShape& d) { return d.extent <= 2 || d.wiring == Wiring::complete; });
  return of_switching(algorithm, machine, single_hops ? Switching::packet : Switching::wormhole);
}

Refusal of_torus(std::string_view algorithm, const Machine& machine) {
  const Topology& topology = machine.topology;
  if (topology.is_torus()) return std::nullopt;
  std::vector<DimensionShape> rings(topology.shape().begin(), topology.shape().end());
  for (DimensionShape& dimension : rings) dimension.wiring = Wiring::ring;
  return std::string(algorithm) + " goes round rings: " + topology.text() + " has a dimension that is none, --on " +
         Topology(std::move(rings)).text() + " would do";
}

Refusal of_ports_but_all(std::string_view algorithm, const Machine& machine) {
  if (machine.all_port()) return std::nullopt;
  return std::string(algorithm) + " uses all channels at once: --ports " + std::to_string(machine.ports) + " is too few, --ports " +
         std::to_string(machine.topology.max_ports()) + " would do";
}

Refusal of_shape_but_square(std::string_view algorithm, const Machine& machine) {
  const Topology& topology = machine.topology;
  if (topology.is_square_torus()) return std::nullopt;
  const Dimension k = topology.dimensions();
  const std::uint64_t below = side_of_cube(k, topology.nodes());
  return std::string(algorithm) + " needs a torus of equal sides, not " + topology.text() + "; nearest: " + cube(k, below);
}

Refusal of_segments(std::string_view algorithm, const Request& request) {
  if (request.parameters.whole("segments") <= 1) return std::nullopt;
  return std::string(algorithm) + " sends the message whole: --segments " + std::to_string(request.parameters.whole("segments")) +
         " should be left out";
}

Refusal of_segments_at_all(std::string_view algorithm, const Request& request) {
  if (request.parameters.word("segments").empty()) return std::nullopt;
  return std::string(algorithm) + " cuts the message by a rule of its own: --segments " +
         std::to_string(request.parameters.whole("segments")) + " should be left out";
}

std::string cube(Dimension dimensions, std::uint64_t side) {
  std::string text = std::to_string(side);
  for (Dimension d = 1; d < dimensions; ++d) text += "x" + std::to_string(side);
  return text;
}

std::uint64_t side_of_cube(Dimension dimensions, std::uint64_t nodes) { return root_below(dimensions, nodes); }

}  // namespace torus::refusal
