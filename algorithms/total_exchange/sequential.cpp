#include "algorithms/total_exchange/sequential.hpp"

#include <algorithm>

#include "algorithms/total_exchange/class_hops.hpp"
#include "algorithms/total_exchange/convoys.hpp"
#include "algorithms/total_exchange/requirements.hpp"

namespace torus::exchange {
namespace {

Timetable timetable(const Topology& topology) {
  const ClassHops hops(topology, [](NodeId) { return 0U; });
  Timetable table(topology);
  for (const Dimension d : linked_dimensions(topology)) {
    table.begin_stage(static_cast<std::uint32_t>(topology.extent(d) / 2));
    table.add_convoy({d, +1}, [&hops, d](NodeId delta) { return hops(delta, d); });
    table.add_convoy({d, -1}, [&hops, d](NodeId delta) { return -hops(delta, d); });
  }
  return table;
}

std::optional<std::string> refuses(const Machine& machine, const Request&) {
  return first_of(refusal::of_torus("sequential", machine), needs_ports("sequential", machine, std::min(2, machine.topology.max_ports())),
                  needs_countable_blocks("sequential", machine));
}

Plan plan(const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  const auto steps = static_cast<std::uint64_t>(topology.diameter());
  return plan_of(timetable(topology), steps, "sum floor(n_i/2)", request.bytes);
}

}  // namespace

const Algorithm sequential{
    .name = "sequential",
    .collective = Collective::total_exchange,
    .source = "folklore: message combining, dimension by dimension",
    .shapes = "torus, any sides",
    .ports = "two",
    .steps = "sum floor(n_i/2) = diameter",
    .native = {.switching = Switching::packet, .ports = 2},
    .refuses = refuses,
    .plan = plan,
};

}  // namespace torus::exchange
