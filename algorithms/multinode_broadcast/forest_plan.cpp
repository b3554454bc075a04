#include "algorithms/multinode_broadcast/forest_plan.hpp"

#include "algorithms/multinode_broadcast/forecast.hpp"

namespace torus::multinode {

std::uint32_t trees_on(const Machine& machine) { return RootedTrees::shares(machine.topology); }

std::optional<Refusal> needs_trees(std::string_view name, const Machine& machine, const Request& request) {
  if (auto refusal = RootedTrees::refuses(name, machine.topology)) return refusal;
  const std::uint32_t segments = request.parameters.whole("segments"), trees = trees_on(machine);
  if (segments % trees == 0) return std::nullopt;
  return Refusal{Refusal::About::parameter, std::to_string(segments),
                 std::string(name) + " needs a multiple of its " + std::to_string(trees) + " trees",
                 std::to_string((segments / trees + 1) * trees), "segments"};
}

void describe_forest(Plan& plan, const Forest& forest, const Request& request) {
  plan.segments = forest.segments();
  plan.table_bytes = forest.table_bytes();
  plan.node_bytes = 2 * sizeof(BlockId) * request.sources.size() * forest.segments();
  plan.notes = {{"trees a source", std::to_string(forest.trees())}, {"height of the trees", std::to_string(forest.height())}};
}

Bytes forest_planning_bytes(const Machine& machine) { return RootedTrees::planning_bytes(machine.topology); }

}  // namespace torus::multinode
