#include "algorithms/multinode_broadcast/edst.hpp"

#include <memory>

#include "algorithms/multinode_broadcast/edst_pipelined.hpp"
#include "algorithms/multinode_broadcast/forecast.hpp"
#include "algorithms/multinode_broadcast/forest_plan.hpp"
#include "algorithms/multinode_broadcast/tree_queues.hpp"

namespace torus::multinode {
namespace {

std::optional<Refusal> also_requires(const Machine& machine, const Request& request) {
  if (request.parameters.whole("chunk") > 0 && !allows(machine.switching, Switching::wormhole)) {
    return Refusal{Refusal::About::switching, std::string(name(machine.switching)), "edst with a chunk counts the sources over long routes",
                   std::string(name(Switching::wormhole))};
  }
  return needs_trees("edst", machine, request);
}
Plan plan_synchronous(const Machine& machine, const Request& request) {
  const auto forest = std::make_shared<const Forest>(
      machine.topology, request.parameters.whole("segments") > 0 ? request.parameters.whole("segments") : trees_on(machine));
  Plan plan;
  plan.start = [forest](Node& self) { return edst_program(self, *forest); };
  plan.steps = forest->height();
  plan.route_hops = plan.steps;
  plan.formula = "height of the trees (D + 2 for n x n, n >= 4)";
  plan.channel_bytes = forest->channel_bytes(assumed_sources(machine, request), request.bytes);
  describe_forest(plan, *forest, request);
  plan.notes.emplace_back("sources assumed by the prediction", decimal(assumed_sources(machine, request)));
  return plan;
}

Plan plan(const Machine& machine, const Request& request) {
  return request.parameters.whole("chunk") > 0 ? plan_edst_pipelined(machine, request) : plan_synchronous(machine, request);
}

}  // namespace

Program edst_program(Node& self, const Forest& forest) {
  TreeQueues queues(self, forest);
  for (std::uint32_t step = 0; step < forest.height(); ++step) {
    self.phase("trees");
    queues.send(0);
    for (const Message& m : co_await self.step()) queues.take(m);
  }
}

const Algorithm edst{
    .name = "edst",
    .collective = Collective::multinode_broadcast,
    .source = "after Varvarigos & Bertsekas: arc-disjoint spanning trees, synchronous; with chunk C pipelined",
    .shapes = "torus of any dimension up to 8, any sides",
    .steps = "height of the trees: D + 2 for n x n, n >= 4",
    .native = {},  // packet switching would do for the synchronous form, but a chunk needs more
    .needs = {.shape = Requirements::Shape::torus, .ports = Requirements::all_ports},
    .parameters = tree_parameters,
    .also_requires = also_requires,
    .plan = plan,
    .planning_bytes = forest_planning_bytes,
};

}  // namespace torus::multinode
