#include "algorithms/total_exchange/sequential.hpp"

#include <algorithm>

#include "algorithms/common/linked_dimensions.hpp"
#include "algorithms/total_exchange/bundled_exchange.hpp"
#include "algorithms/total_exchange/class_hops.hpp"

namespace torus::exchange {
namespace {

Timetable timetable(const Topology& topology) {
  const ClassHops hops(topology, [](NodeId) { return 0U; });
  Timetable table(topology);
  for (const Dimension d : linked_dimensions(topology)) {
    table.begin_stage(static_cast<std::uint32_t>(topology.extent(d) / 2));
    table.add_bundle({d, +1}, [&hops, d](NodeId delta) { return hops(delta, d); });
    table.add_bundle({d, -1}, [&hops, d](NodeId delta) { return -hops(delta, d); });
  }
  return table;
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
    .steps = "sum floor(n_i/2) = diameter",
    .native = {.switching = Switching::packet, .ports = 2},
    .needs = {.shape = Requirements::Shape::torus, .ports = 2},
    .plan = plan,
};

}  // namespace torus::exchange
