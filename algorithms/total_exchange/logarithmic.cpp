#include "algorithms/total_exchange/logarithmic.hpp"

#include <bit>

#include "algorithms/common/linked_dimensions.hpp"
#include "algorithms/total_exchange/bundled_exchange.hpp"

namespace torus::exchange {
namespace {

Timetable timetable(const Topology& topology) {
  Timetable table(topology);
  for (const Dimension d : linked_dimensions(topology)) {
    const std::int32_t n = topology.extent(d);
    for (const std::int32_t direction : {+1, -1}) {
      for (std::int32_t reach = 1; reach <= (direction > 0 ? n : n - 1) / 2; reach *= 2) {
        table.begin_stage(1);
        table.add_bundle({d, direction * reach}, [&topology, d, direction, reach](NodeId delta) {
          const std::int32_t hops = direction * topology.offset(d, 0, topology.coordinate(delta, d));
          return hops > 0 && (hops & reach) != 0;
        });
      }
    }
  }
  return table;
}

Plan plan(const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  std::uint64_t steps = 0;
  for (const DimensionShape& dimension : topology.shape()) {
    const auto n = static_cast<std::uint32_t>(dimension.extent);
    steps += static_cast<std::uint64_t>(std::bit_width(n / 2) + std::bit_width((n - 1) / 2));
  }
  return plan_of(timetable(topology), steps, "sum bl(floor(n_i/2)) + bl(floor((n_i-1)/2))", request.bytes);
}

}  // namespace

const Algorithm logarithmic{
    .name = "log",
    .collective = Collective::total_exchange,
    .source = "this project, after Bruck et al. 1997",
    .shapes = "torus, any sides",
    .steps = "sum bl(floor(n_i/2)) + bl(floor((n_i-1)/2))",
    .native = {.contention = Contention::share, .ports = 1},
    .needs = {.shape = Requirements::Shape::torus, .switching = Switching::wormhole, .shared_channels = true, .overlaps_from = 4},
    .plan = plan,
};

}  // namespace torus::exchange
