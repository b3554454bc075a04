#include "algorithms/multinode_broadcast/log.hpp"

#include <memory>

#include "algorithms/multinode_broadcast/aggregate_distribute.hpp"
#include "algorithms/multinode_broadcast/forecast.hpp"
#include "algorithms/multinode_broadcast/partition.hpp"

namespace torus::multinode {
namespace {

Plan plan(const Machine& machine, const Request& request) {
  const double s = assumed_sources(machine, request);
  const auto scheme = std::make_shared<const AggregateDistribute>(machine.topology.extent(0), 1, Prefix::none, true);
  Plan plan;
  plan.start = [scheme](Node& self) { return aggregate_distribute_program(self, *scheme); };
  plan.steps = static_cast<std::uint64_t>(scheme->steps());
  plan.formula = "2 ceil(log5 n) + ceil(log3 n)";
  plan.channel_bytes = scheme->channel_bytes(s, static_cast<double>(request.bytes));
  plan.node_bytes = 4 * sizeof(BlockId) * request.sources.size();
  plan.notes = {{"sources assumed by the prediction", decimal(s)}};
  return plan;
}

}  // namespace

const Algorithm log{
    .name = "log",
    .collective = Collective::multinode_broadcast,
    .source = "after Chen, Chen & Tseng: their diagonal phases with h = 1 and a ternary all-to-all",
    .shapes = "torus n x n",
    .steps = "2 ceil(log5 n) + ceil(log3 n)",
    .native = {},
    .needs = square_torus,
    .plan = plan,
};

}  // namespace torus::multinode
