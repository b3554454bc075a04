#include "algorithms/reduction/tree.hpp"

#include <memory>

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

/// The steps in which a node passes blocks on, each to one child or to several.
void send_to_children(Node& self, const LineTree& tree, std::uint32_t phase, std::uint32_t step) {
  for (const NodeId child : tree.children(self.topology(), self.rank(), phase)) {
    const LineTree::Move move = *tree.move(self.topology(), child, phase);
    if (tree.steps(phase) - 1 - move.step != step) continue;
    const Dimension d = move.leg.dimension;
    self.forward({{d, self.topology().reverse(d, move.leg.hops)}}, tree.subtree(self.topology(), child, phase));
  }
}

Program from_root(Node& self, const LineTree& tree) {
  for (std::uint32_t phase = tree.phases(); phase-- > 0;) {
    const bool passes_on = tree.takes_part(self.topology(), self.rank(), phase);
    for (std::uint32_t step = 0; step < tree.steps(phase); ++step) {
      if (passes_on) send_to_children(self, tree, phase, step);
      co_await self.step();
    }
  }
}

Plan plan(const Machine& machine, const Request& request) {
  const auto tree = std::make_shared<const LineTree>(machine, request.sources.front());
  const bool reduces = request.collective == Collective::reduce;
  Plan plan;
  plan.start = request.collective == Collective::scatter
                   ? std::function<Program(Node&)>([tree](Node& self) { return from_root(self, *tree); })
                   : [tree, reduces](Node& self) { return towards_root(self, *tree, reduces); };
  plan.steps = tree->all_steps();
  plan.route_hops = plan.steps;
  plan.formula = "sum of the lines through the root";
  plan.channel_bytes = static_cast<double>(reduces ? plan.steps : tree->bundled()) * static_cast<double>(request.bytes);
  plan.combined_bytes = reduces ? static_cast<double>(tree->received()) * static_cast<double>(request.bytes) : 0;
  plan.node_bytes = request.collective == Collective::scatter ? 2 * sizeof(NodeId) * machine.topology.nodes() : 0;
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
