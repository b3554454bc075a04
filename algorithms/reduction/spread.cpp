/// Scatter over all channels of the root at once, and the gather backwards: each block alone, never waiting, in the fewest steps.
///
/// The blocks leave the root the farthest first, one a step and class, and go straight on; spread_classes.hpp says which class takes which
/// way and why no two blocks meet. A node on the way reads the next hop off the block's id.
/// Machine  packet (single hops), all ports, rings and lines, no channel shared.
/// Memory   a class, a step and a count a node.   Header  none.
/// Steps    max over e of e - 1 + ceil(N_e / c), N_e nodes at distance e or more, c the root's channels: the bound of the blocks one by
///          one, met on all of some hundred tori; with lines at times a few more.
/// Bytes    a block a step.   Source  this project.

#include <array>
#include <memory>

#include <torus/algorithm.hpp>

#include "algorithms/entries.hpp"
#include "algorithms/reduction/spread_classes.hpp"

namespace torus::reduction::spread {
namespace {

Program scatter(Node& self, const SpreadClasses& ways, NodeId root) {
  if (self.rank() == root) {
    for (Step step = 0;; ++step) {
      const std::vector<NodeId> leaving = ways.leaving_in(step);
      if (leaving.empty()) co_return;
      for (const NodeId node : leaving) self.forward({*ways.outwards(self.topology(), root, node)}, {{BlockId{node}}});
      co_await self.step();
    }
  }
  for (std::uint32_t passed = 0; passed < ways.passing(self.rank());) {
    for (const Message& m : co_await self.arrival()) {
      const BlockId block = m.blocks()[0];
      ++passed;
      if (const auto leg = ways.outwards(self.topology(), self.rank(), block)) self.forward({*leg}, {{block}});
    }
  }
}

/// Passes on what has arrived; returns how many blocks that were.
std::uint32_t pass_on(Node& self, const SpreadClasses& ways, const Arrivals& came) {
  for (const Message& m : came) {
    const BlockId block = m.blocks()[0];
    if (const auto leg = ways.inwards(self.topology(), self.rank(), block)) self.forward({*leg}, {{block}});
  }
  return static_cast<std::uint32_t>(came.size());
}

/// The step in which a node's block begins its way to the root: the scatter's last for it, counted from the end.
Step beginning(const Topology& topology, const SpreadClasses& ways, NodeId root, NodeId node) {
  return ways.steps() - ways.leaving(node) - static_cast<Step>(topology.distance(root, node));
}

Program gather(Node& self, const SpreadClasses& ways, NodeId root) {
  if (self.rank() == root) co_return;
  const Step begin = beginning(self.topology(), ways, root, self.rank());
  std::uint32_t passed = 1;  // with its own
  for (Arrivals came; self.now() <= begin; came = co_await self.step()) {
    passed += pass_on(self, ways, came);
    if (self.now() < begin) continue;
    const BlockId own = self.rank();
    self.forward({*ways.inwards(self.topology(), self.rank(), own)}, {{own}});
    break;
  }
  while (passed < ways.passing(self.rank())) passed += pass_on(self, ways, co_await self.arrival());
}

Plan plan(const Machine& machine, const Request& request) {
  const NodeId root = request.sources.front();
  const auto ways = std::make_shared<const SpreadClasses>(machine.topology, root);
  Plan plan;
  plan.start = request.collective == Collective::scatter
                   ? std::function<Program(Node&)>([ways, root](Node& self) { return scatter(self, *ways, root); })
                   : [ways, root](Node& self) { return gather(self, *ways, root); };
  plan.steps = ways->steps();
  plan.route_hops = plan.steps;
  plan.formula = "max over e of e - 1 + ceil(N_e / channels of the root); with lines at times a few more";
  plan.channel_bytes = static_cast<double>(plan.steps) * static_cast<double>(request.bytes);
  plan.table_bytes = ways->table_bytes();
  return plan;
}

Bytes planning_bytes(const Machine& machine) { return Bytes{128} * machine.topology.nodes(); }

constexpr std::array terms{Term{"e", "a distance from the root"}, Term{"N_e", "nodes at distance e or more"},
                           Term{"c", "channels of the root"}};

constexpr Algorithm spread(Collective collective, const Idea& idea) {
  return {.name = "spread",
          .collective = collective,
          .source = "ours: every block alone, in classes that do not meet",
          .shapes = "torus or mesh, any sides",
          .steps = "max over e of e - 1 + ceil(N_e / c), N_e nodes at distance e or more, c channels of the root; lines: at times more",
          .idea = idea,
          .terms = terms,
          .native = {.switching = Switching::packet},
          .needs = {.shape = Requirements::Shape::rings_and_lines, .ports = Requirements::all_ports},
          .plan = plan,
          .planning_bytes = planning_bytes};
}

constexpr Algorithm spread_scatter =
    spread(Collective::scatter, {.first = "The root sends the blocks over all its channels at once, those for the farthest nodes first.",
                                 .then = "Each block goes on alone, a hop a step, and never waits: blocks fall into classes whose ways are "
                                         "chosen so that no two blocks meet.",
                                 .good = "The channels of the root are busy until the last block has left, so that on tori no scatter of "
                                         "single blocks takes fewer steps."});
constexpr Algorithm spread_gather =
    spread(Collective::gather,
           {.first = "Each node sends its block towards the root at a set time: it is the scatter of this name, backwards.",
            .then = "The blocks come nearer a hop a step, alone and without waiting, by ways chosen so that no two blocks meet.",
            .good = "From the first arrivals on all channels of the root bring a block in each step, so that on tori no gather of single "
                    "blocks takes fewer steps."});

}  // namespace

extern const Entries entries{spread_scatter, spread_gather};

}  // namespace torus::reduction::spread
