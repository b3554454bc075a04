#include "algorithms/multinode_broadcast/log.hpp"

#include <memory>

#include "algorithms/multinode_broadcast/aggregate_distribute.hpp"
#include "algorithms/multinode_broadcast/forecast.hpp"
#include "algorithms/multinode_broadcast/staircase_scheme.hpp"

namespace torus::multinode {
namespace {

constexpr Requirements any_sides{.shape = Requirements::Shape::torus,
                                 .dimensions = 2,
                                 .switching = Switching::wormhole,
                                 .ports = Requirements::all_ports,
                                 .ascending_routing = true};

/// Without the program.
template <class Scheme>
Plan plan_of(const Machine& machine, const Request& request, const Scheme& scheme, const char* formula) {
  const double s = assumed_sources(machine, request);
  Plan plan;
  plan.steps = static_cast<std::uint64_t>(scheme.steps());
  plan.formula = formula;
  plan.channel_bytes = scheme.channel_bytes(s, static_cast<double>(request.bytes));
  plan.node_bytes = 4 * sizeof(BlockId) * request.sources.size();
  plan.notes = {{"sources assumed by the prediction", decimal(s)}};
  return plan;
}

Plan plan(const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  if (topology.extent(0) == topology.extent(1)) {
    const auto scheme = std::make_shared<const AggregateDistribute>(topology.extent(0), 1, Prefix::none, true);
    Plan plan = plan_of(machine, request, *scheme, "2 ceil(log5 n) + ceil(log3 n)");
    plan.start = [scheme](Node& self) { return aggregate_distribute_program(self, *scheme); };
    return plan;
  }
  const auto scheme = std::make_shared<const StaircaseScheme>(topology);
  Plan plan = plan_of(machine, request, *scheme, "2 levels of the trees + rounds of the exchange");
  plan.start = [scheme](Node& self) { return staircase_program(self, *scheme); };
  plan.table_bytes = scheme->stairs.table_bytes();
  plan.notes.insert(plan.notes.begin(), {"stations", std::to_string(scheme->stairs.stations())});
  return plan;
}

/// The tables of the best staircase, and of one that is tried with what its children are numbered by.
Bytes planning_bytes(const Machine& machine) {
  const Topology& topology = machine.topology;
  return topology.extent(0) == topology.extent(1) ? 0 : Bytes{topology.nodes()} * (4 * sizeof(Staircase::Move) + 3 * sizeof(std::size_t));
}

}  // namespace

const Algorithm log{
    .name = "log",
    .collective = Collective::multinode_broadcast,
    .source = "after Chen, Chen & Tseng: their diagonal phases with h = 1 and a ternary all-to-all; a staircase on unequal sides",
    .shapes = "torus n1 x n2",
    .steps = "n x n: 2 ceil(log5 n) + ceil(log3 n); unequal sides: 2 levels + rounds",
    .native = {},
    .needs = any_sides,
    .plan = plan,
    .planning_bytes = planning_bytes,
};

}  // namespace torus::multinode
