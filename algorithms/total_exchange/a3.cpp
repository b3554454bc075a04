#include "algorithms/total_exchange/a3.hpp"

#include <bit>

#include "algorithms/common/linked_dimensions.hpp"
#include "algorithms/total_exchange/equal_phases.hpp"
#include "algorithms/total_exchange/phase_schedule.hpp"
#include "algorithms/total_exchange/tabled_steps.hpp"

namespace torus::exchange {
namespace {

/// Dimensions of one node aside, all are alike.
std::optional<Refusal> also_requires(const Machine& machine, const Request&) {
  const Topology& topology = machine.topology;
  const std::vector<Dimension> dimensions = linked_dimensions(topology);
  for (const Dimension d : dimensions) {
    const DimensionShape first = topology.shape()[static_cast<std::size_t>(dimensions.front())];
    if (topology.shape()[static_cast<std::size_t>(d)] == first) continue;
    return Refusal{Refusal::About::shape, topology.text(), "a3 needs dimensions of the same extent and wiring",
                   changed(topology, [&](DimensionShape& shape) { shape = shape.extent > 1 ? first : shape; }).text()};
  }
  return needs_tabled_steps("a3", topology, phase_steps);
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
    .steps = "n^(k-1) T_1; T_1: ring ceil(floor(n^2/4)/2), line floor(n^2/4), complete 1",
    .native = {.switching = Switching::packet},
    .needs = {.ports = Requirements::all_ports},
    .also_requires = also_requires,
    .plan = plan,
};

}  // namespace torus::exchange
