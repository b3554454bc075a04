#include "algorithms/total_exchange/dimension_wise.hpp"

#include "algorithms/total_exchange/convoys.hpp"
#include "algorithms/total_exchange/requirements.hpp"

namespace torus::exchange {
namespace {

Timetable timetable(const Topology& topology) {
  Timetable table(topology);
  for (const Dimension d : linked_dimensions(topology)) {
    const auto hops = [&topology, d](NodeId delta) { return topology.offset(d, 0, topology.coordinate(delta, d)); };
    const auto n = static_cast<std::uint32_t>(topology.extent(d));
    table.begin_stage(n / 2);
    table.add_convoy({d, +1}, hops);
    table.begin_stage((n - 1) / 2);
    table.add_convoy({d, -1}, [&hops](NodeId delta) { return -hops(delta); });
  }
  return table;
}

std::optional<std::string> refuses(const Machine& machine, const Request&) {
  return first_of(refusal::of_torus("dimension-wise", machine), needs_countable_blocks("dimension-wise", machine));
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
    .ports = "one",
    .steps = "sum (n_i - 1)",
    .native = {.switching = Switching::packet, .ports = 1},
    .refuses = refuses,
    .plan = plan,
};

}  // namespace torus::exchange
