#include "algorithms/total_exchange/phases.hpp"

#include <torus/error.hpp>

#include "algorithms/common/linked_dimensions.hpp"
#include "algorithms/total_exchange/equal_phases.hpp"
#include "algorithms/total_exchange/phase_schedule.hpp"
#include "algorithms/total_exchange/tabled_steps.hpp"
#include "algorithms/total_exchange/unequal_phases.hpp"

namespace torus::exchange {
namespace {

bool equal_extents(const Topology& topology) {
  for (const DimensionShape& dimension : topology.shape()) {
    if (dimension.extent != 1 && dimension.extent != largest_extent(topology)) return false;
  }
  return true;
}

std::optional<Refusal> also_requires(const Machine& machine, const Request&) {
  return needs_tabled_steps("phases", machine.topology, phase_steps);
}

Plan plan(const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  const std::string formula = "max (N/n_i) T_i";
  if (equal_extents(topology)) {
    return plan_in_phases(
        machine, request, [&](NodeId delta, std::size_t i) { return closed_form_phase(topology, delta, i); }, formula);
  }
  constexpr std::uint32_t most_attempts = 100;  // one shape in twenty needs a second one, and none of 20,000 a third
  const std::optional<ExchangeAssignment> assignment = assign_exchanges_legally(topology, most_attempts);
  if (!assignment) {
    throw InputError("shape " + topology.text() + ": phases found no order of the classes in " + std::to_string(most_attempts) +
                     " attempts; a2 with one port needs no search");
  }
  return plan_in_phases(
      machine, request, [&](NodeId delta, std::size_t i) { return (*assignment)[i][delta]; }, formula);
}

}  // namespace

const Algorithm phases{
    .name = "phases",
    .collective = Collective::total_exchange,
    .source = "this project",
    .shapes = "any product of rings, lines and complete graphs",
    .steps = "max (N/n_i) T_i; T_i: ring ceil(floor(n^2/4)/2), line floor(n^2/4), complete 1",
    .native = {.switching = Switching::packet},
    .needs = {.ports = Requirements::all_ports},
    .also_requires = also_requires,
    .plan = plan,
};

}  // namespace torus::exchange
