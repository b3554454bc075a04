/// Multi-node broadcast by dimension-wise all-gather: k parts of every message go round the k dimensions' rings, then change dimensions.
///
/// All links carry something in every step. If every node is a source and the sides are odd and equal it moves no byte more than any
/// scheme must; for few sources the fullest row decides.
/// Machine  torus of any dimension and sides, packet (single hops), all ports, no channel shared.   Memory  O(s k) words a node.
/// Steps    k floor(longest side / 2), whatever the sources.   Header  none.
/// Source   folklore (ring all-gather).

#include <algorithm>
#include <memory>

#include <torus/algorithm.hpp>

#include "algorithms/entries.hpp"
#include "algorithms/multinode_broadcast/forecast.hpp"
#include "algorithms/multinode_broadcast/ring_gather.hpp"

namespace torus::multinode_broadcast::ring {

namespace {

Program program(Node& self, const RingGather& rings) {
  if (rings.axes.empty()) co_return;
  std::vector<Bundle> parts = split_parts(self.blocks(), rings.axes.size());
  co_await ring_gather(self, rings, true, parts);
}

Plan plan(const Machine& machine, const Request& request) {
  const double s = assumed_sources(machine, request), nodes = machine.topology.nodes();
  const auto rings = std::make_shared<const RingGather>(whole_rings(machine.topology, "rings"));
  Plan plan;
  plan.segments = static_cast<std::uint32_t>(std::max(1, rings->parts()));
  plan.start = [rings](Node& self) { return program(self, *rings); };
  plan.steps = static_cast<std::uint64_t>(rings->steps());
  plan.route_hops = plan.steps;
  plan.formula = "k floor(longest side / 2)";
  plan.channel_bytes = rings->channel_bytes(request.bytes, 1, s / nodes, nodes);
  plan.node_bytes = 4 * sizeof(BlockId) * request.sources.size() * plan.segments;
  plan.notes = {{"sources assumed by the prediction", decimal(s)}};
  return plan;
}

constexpr Algorithm ring{
    .name = "ring",
    .collective = Collective::multinode_broadcast,
    .source = "folklore: dimension-wise ring all-gather, every link busy",
    .shapes = "torus of any dimension and sides",
    .steps = "k floor(longest side / 2), k dimensions wider than 1",
    .native = {.switching = Switching::packet},
    .needs = {.shape = Requirements::Shape::torus, .ports = Requirements::all_ports},
    .plan = plan,
};

}  // namespace

extern const Entries entries{ring};

}  // namespace torus::multinode_broadcast::ring
