#include "algorithms/total_exchange/rotating.hpp"

#include "algorithms/common/linked_dimensions.hpp"
#include "algorithms/total_exchange/bundled_exchange.hpp"
#include "algorithms/total_exchange/class_hops.hpp"
#include "algorithms/total_exchange/rotation.hpp"

namespace torus::exchange {
namespace {

Timetable timetable(const Topology& topology) {
  const Rotation rotation(topology);
  const ClassHops hops(topology, [&rotation](NodeId delta) { return rotation.group(delta); });
  Timetable table(topology);
  for (std::uint32_t stage = 0; stage < rotation.groups(); ++stage) {
    table.begin_stage(static_cast<std::uint32_t>(largest_extent(topology) / 2));
    for (const Dimension d : linked_dimensions(topology)) {
      const auto hops_now = [&rotation, &hops, stage, d](NodeId delta) {
        return rotation.dimension(delta, stage) == d ? hops(delta, d) : 0;
      };
      table.add_bundle({d, +1}, hops_now);
      table.add_bundle({d, -1}, [&hops_now](NodeId delta) { return -hops_now(delta); });
    }
  }
  return table;
}

Plan plan(const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  const std::uint64_t steps = linked_dimensions(topology).size() * static_cast<std::uint64_t>(largest_extent(topology) / 2);
  return plan_of(timetable(topology), steps, "k max floor(n_i/2)", request.bytes);
}

}  // namespace

const Algorithm rotating{
    .name = "rotating",
    .collective = Collective::total_exchange,
    .source = "this project",
    .shapes = "torus, any sides",
    .steps = "k max floor(n_i/2), k dimensions wider than 1",
    .native = {.switching = Switching::packet},
    .needs = {.shape = Requirements::Shape::torus, .ports = Requirements::all_ports},
    .plan = plan,
};

}  // namespace torus::exchange
