#include "algorithms/total_exchange/log_rotating.hpp"

#include <bit>

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
    for (std::int32_t reach = 1; reach <= largest_extent(topology) / 2; reach *= 2) {
      table.begin_stage(1);
      for (const Dimension d : linked_dimensions(topology)) {
        for (const std::int32_t direction : {+1, -1}) {
          table.add_bundle({d, direction * reach}, [&rotation, &hops, stage, d, direction, reach](NodeId delta) {
            const std::int32_t hops_now = rotation.dimension(delta, stage) == d ? direction * hops(delta, d) : 0;
            return hops_now > 0 && (hops_now & reach) != 0;
          });
        }
      }
    }
  }
  return table;
}

Plan plan(const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  const auto farthest = static_cast<std::uint32_t>(largest_extent(topology) / 2);
  const std::uint64_t steps = linked_dimensions(topology).size() * static_cast<std::uint64_t>(std::bit_width(farthest));
  return plan_of(timetable(topology), steps, "k max bl(floor(n_i/2))", request.bytes);
}

}  // namespace

const Algorithm log_rotating{
    .name = "log-rotating",
    .collective = Collective::total_exchange,
    .source = "this project",
    .shapes = "torus, any sides",
    .steps = "k max bl(floor(n_i/2)), k dimensions wider than 1",
    .native = {.contention = Contention::share},
    .needs = {.shape = Requirements::Shape::torus,
              .switching = Switching::wormhole,
              .ports = Requirements::all_ports,
              .shared_channels = true,
              .overlaps_from = 4},
    .plan = plan,
};

}  // namespace torus::exchange
