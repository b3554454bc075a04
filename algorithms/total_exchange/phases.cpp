/// Total exchange over all ports in phases: in each, one exchange along every dimension, side by side. Two algorithms, which differ in the
/// shapes that they take and in which exchange carries which class (phase_assignment.hpp).
///
/// a3      k dimensions of the same extent n and wiring. 2^j dimensions: the paper's algorithm A3; any other number: the closed form.
///         Steps  n^(k-1) T_1, T_1 those of one exchange; meets bound (4) on lines, and on rings where n is odd or a multiple of 4.
/// phases  Any product of rings, lines and complete graphs. The dimension with the most to carry never pauses.
///         Steps  max over i of (N/n_i) T_i; meets bound (4) on every mesh.
///         Errors plan() throws InputError where extents differ and a hundred orders of the classes all fail; of 20,000 shapes none
///         needed a third.
///
/// Machine  packet, all ports.   Header  none.   Memory  that of phase_schedule.hpp.
/// Source   Dimakopoulos & Dimopoulos, A theory for total exchange in multidimensional interconnection networks: algorithm A3; phases and
///          the closed form are this project's.

#include <bit>

#include <torus/algorithm.hpp>
#include <torus/error.hpp>

#include "algorithms/common/shapes.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/total_exchange/phase_assignment.hpp"
#include "algorithms/total_exchange/phase_schedule.hpp"

namespace torus::total_exchange::phases {
namespace {

/// Dimensions of one node aside, all are alike.
std::optional<Refusal> equal_dimensions(const Machine& machine, const Request&) {
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

Plan plan_a3(const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  const auto phase = std::has_single_bit(linked_dimensions(topology).size()) ? halving_phase : closed_form_phase;
  return plan_in_phases(
      machine, request, [&](NodeId delta, std::size_t i) { return phase(topology, delta, i); }, "n^(k-1) T_1");
}

const Algorithm a3{
    .name = "a3",
    .collective = Collective::total_exchange,
    .source =
        "Dimakopoulos & Dimopoulos, total exchange in multidimensional networks, algorithm A3; other than 2^j dimensions: this project",
    .shapes = "k equal rings, lines or complete graphs wider than 1, any k",
    .steps = "n^(k-1) T_1; T_1: ring ceil(floor(n^2/4)/2), line floor(n^2/4), complete 1",
    .native = {.switching = Switching::packet},
    .needs = {.ports = Requirements::all_ports},
    .also_requires = equal_dimensions,
    .plan = plan_a3,
};

bool equal_extents(const Topology& topology) {
  for (const DimensionShape& dimension : topology.shape()) {
    if (dimension.extent != 1 && dimension.extent != largest_extent(topology)) return false;
  }
  return true;
}

std::optional<Refusal> few_enough_steps(const Machine& machine, const Request&) {
  return needs_tabled_steps("phases", machine.topology, phase_steps);
}

Plan plan_phases(const Machine& machine, const Request& request) {
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

const Algorithm phases{
    .name = "phases",
    .collective = Collective::total_exchange,
    .source = "this project",
    .shapes = "any product of rings, lines and complete graphs",
    .steps = "max (N/n_i) T_i; T_i: ring ceil(floor(n^2/4)/2), line floor(n^2/4), complete 1",
    .native = {.switching = Switching::packet},
    .needs = {.ports = Requirements::all_ports},
    .also_requires = few_enough_steps,
    .plan = plan_phases,
};

}  // namespace

extern const Entries entries{a3, phases};

}  // namespace torus::total_exchange::phases
