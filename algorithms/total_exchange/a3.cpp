#include "algorithms/total_exchange/a3.hpp"

#include <bit>

#include "algorithms/total_exchange/equal_phases.hpp"
#include "algorithms/total_exchange/phase_schedule.hpp"
#include "algorithms/total_exchange/requirements.hpp"

namespace torus::exchange {
namespace {

Refusal needs_equal_dimensions(const Topology& topology) {
  const std::vector<Dimension> dimensions = linked_dimensions(topology);
  if (dimensions.empty()) return std::nullopt;
  const DimensionShape wanted = topology.shape()[static_cast<std::size_t>(dimensions.front())];
  for (const Dimension d : dimensions) {
    if (topology.shape()[static_cast<std::size_t>(d)] == wanted) continue;
    return "shape " + topology.text() + ": a3 needs dimensions of the same extent and wiring; " +
           Topology(std::vector<DimensionShape>(dimensions.size(), wanted)).text() + " would do";
  }
  return std::nullopt;
}

std::optional<std::string> refuses(const Machine& machine, const Request&) {
  return first_of(needs_equal_dimensions(machine.topology), needs_ports("a3", machine, machine.topology.max_ports()),
                  needs_countable_blocks("a3", machine), needs_tabled_steps("a3", machine, phase_steps(machine.topology)));
}

Plan plan(const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  const auto phase = std::has_single_bit(linked_dimensions(topology).size()) ? halving_phase : closed_form_phase;
  return plan_in_phases(
      machine, request, [&](NodeId delta, std::size_t i) { return phase(topology, delta, i); }, "n^(k-1) T_1");
}

}  // namespace

const Algorithm a3{
    .name = "a3",
    .collective = Collective::total_exchange,
    .source =
        "Dimakopoulos & Dimopoulos, total exchange in multidimensional networks, algorithm A3; other than 2^j dimensions: this project",
    .shapes = "k equal rings, lines or complete graphs wider than 1, any k",
    .ports = "all",
    .steps = "n^(k-1) T_1; T_1: ring ceil(floor(n^2/4)/2), line floor(n^2/4), complete 1",
    .native = {.switching = Switching::packet},
    .refuses = refuses,
    .plan = plan,
};

}  // namespace torus::exchange
