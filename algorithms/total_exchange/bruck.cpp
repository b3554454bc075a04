#include "algorithms/total_exchange/bruck.hpp"

#include "algorithms/common/integers.hpp"
#include "algorithms/common/linked_dimensions.hpp"
#include "algorithms/total_exchange/bundled_exchange.hpp"

namespace torus::exchange {
namespace {

Timetable timetable(const Topology& topology) {
  Timetable table(topology);
  for (const Dimension d : linked_dimensions(topology)) {
    const std::int32_t n = topology.extent(d);
    for (std::int32_t bit = 1; bit < n; bit *= 2) {
      table.begin_stage(1);
      table.add_bundle({d, 2 * bit > n ? bit - n : bit},
                       [&topology, d, bit](NodeId delta) { return (topology.coordinate(delta, d) & bit) != 0; });
    }
  }
  return table;
}

Plan plan(const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  std::uint64_t steps = 0;
  for (const DimensionShape& dimension : topology.shape()) steps += ceil_log(2, static_cast<std::uint64_t>(dimension.extent));
  return plan_of(timetable(topology), steps, "sum ceil(log2 n_i)", request.bytes);
}

}  // namespace

const Algorithm bruck{
    .name = "bruck",
    .collective = Collective::total_exchange,
    .source = "Bruck et al. 1997",
    .shapes = "torus, any sides",
    .steps = "sum ceil(log2 n_i)",
    .native = {.contention = Contention::share, .ports = 1},
    .needs = {.shape = Requirements::Shape::torus, .switching = Switching::wormhole, .shared_channels = true, .overlaps_from = 4},
    .plan = plan,
};

}  // namespace torus::exchange
