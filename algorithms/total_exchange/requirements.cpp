#include "algorithms/total_exchange/requirements.hpp"

#include <algorithm>
#include <string>

namespace torus::exchange {

Refusal needs_ports(std::string_view algorithm, const Machine& machine, int ports) {
  if (machine.ports >= ports) return std::nullopt;
  return "ports " + std::to_string(machine.ports) + ": " + std::string(algorithm) + " sends " + std::to_string(ports) +
         " messages a node and step; --ports " + std::to_string(ports) + " would do";
}

Refusal needs_sharing(std::string_view algorithm, const Machine& machine) {
  if (machine.contention == Contention::share) return std::nullopt;
  return "contention " + std::string(name(machine.contention)) + ": " + std::string(algorithm) +
         " sends several worms over a channel at once; --contention share would do";
}

Refusal needs_overlapping_worms(std::string_view algorithm, const Machine& machine) {
  if (largest_extent(machine.topology) < 4) return std::nullopt;
  return first_of(refusal::of_switching(algorithm, machine, Switching::wormhole), needs_sharing(algorithm, machine));
}

Refusal needs_countable_blocks(std::string_view algorithm, const Machine& machine) {
  const NodeId nodes = machine.topology.nodes();
  if (nodes < 65536) return std::nullopt;
  return std::to_string(nodes) + " nodes: " + std::string(algorithm) +
         " has a block for each pair of nodes and a run holds fewer than 2^32; 65535 nodes would do";
}

Refusal needs_tabled_steps(std::string_view algorithm, const Machine& machine, std::uint64_t steps) {
  if (steps <= most_tabled) return std::nullopt;
  return std::to_string(steps) + " steps on " + machine.topology.text() + ": " + std::string(algorithm) + " keeps a table of at most " +
         std::to_string(most_tabled) + "; --algorithm a2 --ports 1 would do";
}

Refusal needs_multiples(std::string_view algorithm, const Machine& machine, std::int32_t unit, std::string_view why) {
  for (const DimensionShape& dimension : machine.topology.shape()) {
    if (dimension.extent == 1 || dimension.extent % unit == 0) continue;
    return "extent " + std::to_string(dimension.extent) + " of " + machine.topology.text() + ": " + std::string(algorithm) +
           " needs multiples of " + std::to_string(unit) + std::string(why) + "; " + std::to_string((dimension.extent / unit + 1) * unit) +
           " would do";
  }
  return std::nullopt;
}

std::int32_t largest_extent(const Topology& topology) noexcept {
  std::int32_t largest = 1;
  for (const DimensionShape& dimension : topology.shape()) largest = std::max(largest, dimension.extent);
  return largest;
}

}  // namespace torus::exchange
