#include "algorithms/multinode_broadcast/log.hpp"

#include <array>
#include <memory>

#include "algorithms/multinode_broadcast/aggregate_distribute.hpp"
#include "algorithms/multinode_broadcast/forecast.hpp"
#include "algorithms/multinode_broadcast/machine_fit.hpp"

namespace torus::multinode {
namespace {

std::optional<std::string> refuses(const Machine& machine, const Request& request) {
  if (request.parameters.whole("h") > 1)
    return "log is the case h = 1: --h " + std::to_string(request.parameters.whole("h")) + " is another, --h 1 would do";
  return refusal::first_of(refuses_all_but_squares("log", machine), refuses_torus("log", machine, Switching::wormhole),
                           refuses_routing("log", machine), refusal::of_segments("log", request));
}

Plan plan(const Machine& machine, const Request& request) {
  const double s = assumed_sources(machine, request);
  const auto scheme = std::make_shared<const AggregateDistribute>(machine.topology.extent(0), 1, Prefix::none, true);
  Plan plan;
  plan.start = [scheme](Node& self) { return aggregate_distribute_program(self, *scheme); };
  plan.steps = static_cast<std::uint64_t>(scheme->steps());
  plan.route_hops = static_cast<std::uint64_t>(scheme->route_hops());
  plan.formula = "2 ceil(log5 n) + ceil(log3 n)";
  plan.channel_bytes = scheme->channel_bytes(s, static_cast<double>(request.bytes));
  plan.node_bytes = 4 * sizeof(BlockId) * request.sources.size();
  plan.notes = {{"sources assumed by the prediction", decimal(s)}};
  return plan;
}

constexpr std::array parameters{Parameter{"h", "partition into h x h subnetworks", {}, nullptr}};

}  // namespace

const Algorithm log{
    .name = "log",
    .collective = Collective::multinode_broadcast,
    .source = "after Chen, Chen & Tseng: their diagonal phases with h = 1 and a ternary all-to-all",
    .shapes = "torus n x n",
    .ports = "all",
    .steps = "2 ceil(log5 n) + ceil(log3 n)",
    .native = {},
    .parameters = parameters,
    .refuses = refuses,
    .plan = plan,
};

}  // namespace torus::multinode
