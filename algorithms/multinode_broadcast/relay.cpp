#include "algorithms/multinode_broadcast/relay.hpp"

#include <memory>

#include "algorithms/broadcast/swath.hpp"
#include "algorithms/broadcast/swath_plan.hpp"
#include "algorithms/broadcast/swath_view.hpp"
#include "algorithms/multinode_broadcast/forecast.hpp"
#include "algorithms/multinode_broadcast/root_trees.hpp"
#include "algorithms/multinode_broadcast/swath_choice.hpp"

namespace torus::multinode {
namespace {

using broadcast::SwathSchedule;
using broadcast::SwathView;

struct Scheme {
  RootTrees trees;
  SwathSchedule schedule;
};

/// What a node holds, by segment.
class Bundles final : public broadcast::SwathOutlet {
 public:
  Bundles(std::uint32_t segments, bool root, const Bundle& held) : by_segment_(segments), full_(segments, root) {
    if (!root) return;
    for (const BlockId id : held) by_segment_[id % segments].push_back(id);
  }

  void send(const SwathView& view, Leg leg, std::uint32_t first, std::uint32_t count) override {
    Bundle leaving;
    for (std::uint32_t i = first; i < first + count; ++i) leaving.insert(leaving.end(), by_segment_[i].begin(), by_segment_[i].end());
    send_bundle(view.self, {leg}, leaving);
  }

  /// A segment comes whole in one message. Some come a second time in the end.
  void take(const Message& m) {
    Bundle fresh;
    for (const BlockId id : m.blocks()) {
      const std::size_t segment = id % by_segment_.size();
      if (full_[segment]) continue;
      by_segment_[segment].push_back(id);
      fresh.push_back(id);
    }
    for (const BlockId id : fresh) full_[id % by_segment_.size()] = true;
  }

 private:
  std::vector<Bundle> by_segment_;
  std::vector<bool> full_;
};

Program program(Node& self, const Scheme& scheme) {
  Bundle bundle(self.blocks().begin(), self.blocks().end());
  co_await gather_to_root(self, scheme.trees, Cargo::blocks, bundle);
  Bundles bundles(scheme.schedule.segments(), self.rank() == scheme.trees.root, bundle);
  for (const SwathSchedule::Phase& phase : scheme.schedule.phases()) {
    for (Step step = 0; step < phase.end - phase.begin; ++step) {
      self.phase(broadcast::name_of(phase.stage));
      broadcast::swath_step(self, scheme.schedule, scheme.trees.root, {}, phase, step, &bundles);
      for (const Message& m : co_await self.step()) bundles.take(m);
    }
  }
}

Plan plan(const Machine& machine, const Request& request) {
  const double s = assumed_sources(machine, request);
  const auto scheme = std::make_shared<const Scheme>(
      Scheme{RootTrees(machine), choose_swath(machine, request, s, [s](const SwathSchedule& schedule, double bytes) {
               return std::pair{static_cast<double>(schedule.steps()), s * bytes};
             })});
  Plan plan;
  plan.segments = scheme->schedule.segments();
  plan.start = [scheme](Node& self) { return program(self, *scheme); };
  plan.steps = static_cast<std::uint64_t>(scheme->trees.steps()) + scheme->schedule.steps();
  plan.formula = relay.steps;
  plan.channel_bytes =
      scheme->trees.gathering_bytes(s, static_cast<double>(request.bytes)) + s * scheme->schedule.cost(request.bytes).channel_bytes;
  plan.table_bytes = scheme->schedule.table_bytes();
  plan.node_bytes = plan.segments * (sizeof(Bundle) + 3 * sizeof(BlockId) * request.sources.size());
  plan.notes = {{"h", std::to_string(scheme->schedule.layout().pieces)}, {"sources assumed by the prediction", decimal(s)}};
  return plan;
}

std::optional<Refusal> also_requires(const Machine& machine, const Request& request) {
  return broadcast::swath_also_requires(machine, request, swath_ways(machine), "relay");
}

}  // namespace

const Algorithm relay{
    .name = "relay",
    .collective = Collective::multinode_broadcast,
    .source = "this project: gather to one node, and a swath of bundles from there",
    .shapes = swath_shapes,
    .steps = "sum of ceil(log_b n_d), b = 3, with one port 2; and the steps of swath, with one port of strip",
    .native = {},
    .needs = {.shape = Requirements::Shape::torus, .switching = Switching::wormhole},
    .parameters = swath_parameters,
    .also_requires = also_requires,
    .plan = plan,
};

}  // namespace torus::multinode
