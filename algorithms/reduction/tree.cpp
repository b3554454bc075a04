#include "algorithms/reduction/tree.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "algorithms/reduction/line_tree.hpp"

namespace torus::reduction {
namespace {

/// Combines, or collects, and gives all away once.
Program towards_root(Node& self, const LineTree& tree, bool combines) {
  Step begin = 0;
  for (std::uint32_t phase = 0; phase < tree.phases() && tree.takes_part(self.topology(), self.rank(), phase); ++phase) {
    if (const auto move = tree.move(self.topology(), self.rank(), phase)) {
      while (self.now() < begin + move->step) co_await self.step();
      if (combines)
        self.forward(combine, {move->leg}, self.blocks());
      else
        self.forward({move->leg}, self.blocks());
    }
    begin += tree.steps(phase);
  }
}

/// Sleeps until its blocks come, passes on those of its children, each in its step, and ends.
Program from_root(Node& self, const LineTree& tree, NodeId root) {
  if (self.rank() != root) co_await self.arrival();
  Step begin = 0;
  for (std::uint32_t phase = tree.phases(); phase-- > 0; begin += tree.steps(phase)) {
    if (!tree.takes_part(self.topology(), self.rank(), phase)) continue;
    std::vector<std::pair<Step, NodeId>> children;
    for (const NodeId child : tree.children(self.topology(), self.rank(), phase))
      children.emplace_back(begin + tree.steps(phase) - 1 - tree.move(self.topology(), child, phase)->step, child);
    std::sort(children.begin(), children.end());
    for (const auto& [step, child] : children) {
      while (self.now() < step) co_await self.step();
      const Leg up = tree.move(self.topology(), child, phase)->leg;
      self.forward({{up.dimension, self.topology().reverse(up.dimension, up.hops)}}, tree.subtree(self.topology(), child, phase));
    }
  }
}

Plan plan(const Machine& machine, const Request& request) {
  const auto tree = std::make_shared<const LineTree>(machine, request.sources.front());
  const bool reduces = request.collective == Collective::reduce;
  Plan plan;
  plan.start =
      request.collective == Collective::scatter
          ? std::function<Program(Node&)>([tree, root = request.sources.front()](Node& self) { return from_root(self, *tree, root); })
          : [tree, reduces](Node& self) { return towards_root(self, *tree, reduces); };
  plan.steps = tree->all_steps();
  plan.route_hops = plan.steps;
  plan.formula = "sum of the lines through the root";
  plan.channel_bytes = static_cast<double>(reduces ? plan.steps : tree->bundled()) * static_cast<double>(request.bytes);
  plan.combined_bytes = reduces ? static_cast<double>(tree->received()) * static_cast<double>(request.bytes) : 0;
  if (request.collective == Collective::scatter) {
    plan.table_bytes = 4 * sizeof(NodeId) * machine.topology.nodes();  // a list of a subtree, which ends with the send
    plan.node_bytes = 64;                                              // children: each node is the child of one
  }
  return plan;
}

constexpr Algorithm tree(Collective collective) {
  return {.name = "tree",
          .collective = collective,
          .source = "folklore: along the lines through the root",
          .shapes = "any",
          .steps = "sum over the dimensions: ring floor(n/2), one port n-1; line its longer side from the root; complete ceil((n-1)/ports)",
          .native = {.switching = Switching::packet},
          .plan = plan};
}

}  // namespace

const Algorithm tree_reduce = tree(Collective::reduce);
const Algorithm tree_gather = tree(Collective::gather);
const Algorithm tree_scatter = tree(Collective::scatter);

}  // namespace torus::reduction
