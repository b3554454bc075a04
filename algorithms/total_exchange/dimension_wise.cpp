#include "algorithms/total_exchange/dimension_wise.hpp"

#include "algorithms/common/linked_dimensions.hpp"
#include "algorithms/total_exchange/bundled_exchange.hpp"

namespace torus::exchange {
namespace {

Timetable timetable(const Topology& topology) {
  Timetable table(topology);
  for (const Dimension d : linked_dimensions(topology)) {
    const auto hops = [&topology, d](NodeId delta) { return topology.offset(d, 0, topology.coordinate(delta, d)); };
    const auto n = static_cast<std::uint32_t>(topology.extent(d));
    table.begin_stage(n / 2);
    table.add_bundle({d, +1}, hops);
    table.begin_stage((n - 1) / 2);
    table.add_bundle({d, -1}, [&hops](NodeId delta) { return -hops(delta); });
  }
  return table;
}

Plan plan(const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  std::uint64_t steps = 0;
  for (const DimensionShape& dimension : topology.shape()) steps += static_cast<std::uint64_t>(dimension.extent - 1);
  return plan_of(timetable(topology), steps, "sum (n_i - 1)", request.bytes);
}

}  // namespace

const Algorithm dimension_wise{
    .name = "dimension-wise",
    .collective = Collective::total_exchange,
    .source = "folklore: message combining, dimension by dimension",
    .shapes = "torus, any sides",
    .steps = "sum (n_i - 1)",
    .native = {.switching = Switching::packet, .ports = 1},
    .needs = {.shape = Requirements::Shape::torus},
    .plan = plan,
};

}  // namespace torus::exchange
