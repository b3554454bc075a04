#include "algorithms/multinode_broadcast/edst_pipelined.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "algorithms/common/received.hpp"
#include "algorithms/multinode_broadcast/count.hpp"
#include "algorithms/multinode_broadcast/forecast.hpp"
#include "algorithms/multinode_broadcast/forest_plan.hpp"
#include "algorithms/multinode_broadcast/tree_queues.hpp"

namespace torus::multinode {
namespace {

std::optional<Refusal> also_requires(const Machine& machine, const Request& request) {
  return needs_trees("edst-pipelined", machine, request);
}

/// Segments a channel and step, and segments a message, that make (H + s U / C) (T_s + T_h + C m T_c / 2kU) least.
struct Pipeline {
  std::uint32_t chunk, segments;
};

Pipeline choose(const Machine& machine, const Request& request, double s, double height) {
  const double trees = trees_on(machine), m = std::max(1.0, static_cast<double>(request.bytes));
  const double step_s = machine.cost.steps(1, 0, 1);
  const double best = std::sqrt(trees * std::max(1.0, s) * step_s / (std::max(1.0, height) * m * std::max(1e-30, machine.cost.byte_s)));
  constexpr double finest = 16;  // finer cuts bring little and cost the host much
  double cut = request.parameters.whole("segments") > 0
                   ? request.parameters.whole("segments") / trees
                   : std::clamp(std::floor(1 / std::max(best, 1e-9)), 1.0, std::max(1.0, std::min(finest, m / trees)));
  cut = std::floor(cut);
  const double chunk =
      request.parameters.whole("chunk") > 0 ? request.parameters.whole("chunk") : std::clamp(std::round(best * cut), 1.0, 1e6);
  return {static_cast<std::uint32_t>(chunk), static_cast<std::uint32_t>(cut * trees)};
}

}  // namespace

Plan plan_edst_pipelined(const Machine& machine, const Request& request) {
  const double nodes = machine.topology.nodes();
  const double s = assumed_sources(machine, request);
  const double most = most_sources(machine, request);
  const std::uint32_t trees = trees_on(machine);
  const Pipeline pipeline = choose(machine, request, s, machine.topology.diameter() + 2);
  const auto forest = std::make_shared<const Forest>(machine.topology, pipeline.segments);
  Plan plan;
  plan.start = [forest, chunk = pipeline.chunk](Node& self) { return edst_pipelined_program(self, *forest, chunk); };
  const double cut = std::floor(static_cast<double>(pipeline.segments) / trees), height = forest->height();
  // On its way into a node a channel carries the messages of all sources but that node.
  const auto load = [&](double sources) { return std::ceil(std::min(sources, std::max(0.0, nodes - 1)) * cut / pipeline.chunk); };
  const double rounds = height > 0 ? height + load(s) : 0;
  const double most_rounds = height > 0 ? std::ceil(cut / pipeline.chunk) + (height - 1) * load(most) : 0;
  plan.steps = forest->counting_steps() + static_cast<std::uint64_t>(most_rounds);
  plan.steps_estimate = forest->counting_steps() + static_cast<std::uint64_t>(rounds);
  plan.steps_exact = false;
  plan.formula = "2 sum L3(n_t) + ceil(U/C) + (height-1) ceil(min(s, N-1) U / C)";
  const Bytes segment = (request.bytes + pipeline.segments - 1) / pipeline.segments;
  const double full_chunks = rounds * pipeline.chunk * static_cast<double>(segment);
  plan.channel_bytes = 4.0 * forest->counting_steps() + std::min(full_chunks, forest->channel_bytes(s, request.bytes));
  describe_forest(plan, *forest, request);
  plan.notes.emplace_back("chunk (segments a channel and step)", std::to_string(pipeline.chunk));
  plan.notes.emplace_back("sources assumed by the limit", decimal(most));
  plan.notes.emplace_back("steps as a rule", std::to_string(*plan.steps_estimate));
  return plan;
}

Program edst_pipelined_program(Node& self, const Forest& forest, std::uint32_t chunk) {
  std::size_t held = self.blocks().size();
  const std::uint32_t counted = co_await count_everywhere(self, forest.axes(), forest.counting(), held > 0 ? 1 : 0);
  const NodeId sources = bounded(counted, NodeId{0}, self.topology().nodes(), "number of sources");
  TreeQueues queues(self, forest);
  const std::size_t wanted = std::size_t{sources} * forest.segments();
  while (held < wanted || !queues.empty()) {
    self.phase("trees");
    queues.send(chunk);
    Arrivals came;
    if (held < wanted && queues.empty()) {
      came = co_await self.arrival();
    } else {
      came = co_await self.step();
    }
    for (const Message& m : came) {
      held += m.blocks().size();
      queues.take(m);
    }
  }
}

const Algorithm edst_pipelined{
    .name = "edst-pipelined",
    .collective = Collective::multinode_broadcast,
    .source = "after Varvarigos & Bertsekas: arc-disjoint spanning trees, first in, first out; meets the byte bound",
    .shapes = "torus of any dimension up to 8, any sides",
    .steps = "about 2 sum L3(n_t) + height + ceil(s U / C)",
    .native = {},
    .needs = {.shape = Requirements::Shape::torus, .switching = Switching::wormhole, .ports = Requirements::all_ports},
    .parameters = tree_parameters,
    .also_requires = also_requires,
    .plan = plan_edst_pipelined,
    .planning_bytes = forest_planning_bytes,
};

}  // namespace torus::multinode
