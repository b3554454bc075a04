/// Multi-node broadcast by way of one node: everything gathers at it and goes out as one long message, in the swath of a broadcast.
///
/// The segments of the swath (broadcast/swath/swath.hpp) are bundles: segment i holds the i-th block of every source's
/// message. So no node needs to know the sources: in place of a segment a node sends what it holds of it.
/// Machine  torus of any sides, wormhole in any routing order, any ports, no channel shared.
/// Memory   O(s segments) words a node.
/// Steps    of the gather the sum over the dimensions of ceil(log_b n), b = 2 with one port, else 3; and of the swath for h pieces.
/// Bytes    of the gather, at most s m a step; and s times those of a broadcast of m bytes.
/// Header   none.   Source  this project.

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/broadcast/swath/swath.hpp"
#include "algorithms/common/canonical_form.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/multinode_broadcast/forecast.hpp"
#include "algorithms/multinode_broadcast/line_tree.hpp"
#include "algorithms/multinode_broadcast/swath_choice.hpp"
#include "algorithms/program_memory.hpp"

namespace torus::multinode_broadcast::relay {

namespace {

using broadcast::SwathSchedule;
using broadcast::SwathView;

/// The lines to one node, the root, along one dimension after the other: with one port the trees have one child a level, else two.
struct RootTrees {
  explicit RootTrees(const Machine& machine);

  std::int32_t steps() const noexcept;
  /// Sum over the steps of a gather of the most bytes on a channel, for s sources of m bytes: exact for s = all, an estimate for random
  /// ones.
  double gathering_bytes(double s, double m) const;

  double nodes;
  std::vector<Dimension> axes;
  std::vector<LineTree> trees;  ///< by axis
  NodeId root;
};

RootTrees::RootTrees(const Machine& machine)
    : nodes{static_cast<double>(machine.topology.nodes())}, axes{canonical_dimensions(machine)}, root{0} {
  std::reverse(axes.begin(), axes.end());  // the longest last loads the channels least
  Coordinates at = machine.topology.coordinates(0);
  for (const Dimension d : axes) {
    const std::int32_t n = machine.topology.extent(d);
    trees.push_back(machine.ports == 1 ? LineTree::halving(n) : LineTree::line(3, n));
    at[static_cast<std::size_t>(d)] = trees.back().root();
  }
  root = machine.topology.rank(at);
}

std::int32_t RootTrees::steps() const noexcept {
  std::int32_t steps = 0;
  for (const LineTree& tree : trees) steps += tree.levels();
  return steps;
}

double RootTrees::gathering_bytes(double s, double m) const {
  double sum = 0, crowd = 1;  // nodes whose messages one place of the axis has
  for (const LineTree& tree : trees) {
    for (const std::int32_t size : tree.level_sizes()) sum += m * fullest(size * crowd * s / nodes, nodes / crowd, size * crowd);
    crowd *= tree.positions();
  }
  return sum;
}

/// Whether a node takes part along an axis: in all earlier ones it stands where their bundles went.
bool takes_part(const Node& self, const RootTrees& trees, std::size_t axis) {
  for (std::size_t earlier = 0; earlier < axis; ++earlier) {
    if (self.coordinate(trees.axes[earlier]) != trees.trees[earlier].root()) return false;
  }
  return true;
}

/// Every bundle ends at the root; all others are empty then.
Program gather_to_root(Node& self, const RootTrees& trees, Bundle& bundle) {
  for (std::size_t axis = 0; axis < trees.axes.size(); ++axis) {
    const bool member = takes_part(self, trees, axis);
    for (std::int32_t level = 0; level < trees.trees[axis].levels(); ++level) {
      self.phase("to the root");
      if (member) hand_up(self, trees.axes[axis], trees.trees[axis], self.coordinate(trees.axes[axis]), level, bundle);
      for (const Message& m : co_await self.step()) append(bundle, m);
    }
  }
}

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
  co_await gather_to_root(self, scheme.trees, bundle);
  Bundles bundles(scheme.schedule.segments(), self.rank() == scheme.trees.root, bundle);
  for (const SwathSchedule::Phase& phase : scheme.schedule.phases()) {
    for (Step step = 0; step < phase.end - phase.begin; ++step) {
      self.phase(broadcast::swath::name_of(phase.stage));
      broadcast::swath::swath_step(self, scheme.schedule, scheme.trees.root, {}, phase, step, &bundles);
      for (const Message& m : co_await self.step()) bundles.take(m);
    }
  }
}

constexpr std::string_view steps_in_words =
    "sum of ceil(log_b n_d), b = 3, with one port 2; and the steps of swath, with one port of strip";

Plan plan(const Machine& machine, const Request& request) {
  const double s = assumed_sources(machine, request);
  const auto scheme = std::make_shared<const Scheme>(
      Scheme{RootTrees(machine), choose_swath(machine, request, s, [s](const SwathSchedule& schedule, double bytes) {
               return std::pair{static_cast<double>(schedule.steps()), s * bytes};
             })});
  Plan plan;
  plan.segments = scheme->schedule.segments();
  plan.start = [scheme](Node& self) { return program(self, *scheme); };
  plan.node_bytes += frames_of_calls(machine, [&](Node& self) {
    Bundle none;
    make(gather_to_root(self, scheme->trees, none));
  });
  plan.steps = static_cast<std::uint64_t>(scheme->trees.steps()) + scheme->schedule.steps();
  plan.formula = steps_in_words;
  plan.channel_bytes =
      scheme->trees.gathering_bytes(s, static_cast<double>(request.bytes)) + s * scheme->schedule.cost(request.bytes).channel_bytes;
  plan.table_bytes = scheme->schedule.table_bytes();
  const std::uint64_t blocks = request.sources.size() * plan.segments;
  plan.node_bytes += bytes_of_lists(plan.segments, blocks / 2);  // a list of a segment grows once
  // Most blocks come to a node once.
  plan.message_bytes = bytes_of_messages(static_cast<std::uint64_t>(machine.topology.max_ports())) + 2 * sizeof(BlockId) * blocks;
  plan.notes = {{"h", std::to_string(scheme->schedule.layout().pieces)}, {"sources assumed by the prediction", decimal(s)}};
  return plan;
}

std::optional<Refusal> also_requires(const Machine& machine, const Request& request) {
  return broadcast::swath_also_requires(machine, request, swath_ways(machine), "relay");
}

constexpr std::array terms{Term{"b", "base of the gather: 3, with one port 2"}};

constexpr Algorithm relay{
    .name = "relay",
    .collective = Collective::multinode_broadcast,
    .source = "this project: gather to one node, and a swath of bundles from there",
    .shapes = swath_shapes,
    .steps = steps_in_words,
    .idea = {.first = "The messages of all sources gather at one node, along the lines of one dimension after the other.",
             .then = "From there they go out together as one long message, in the swath of a broadcast: pieces are scattered, spread along "
                     "the rows, and gathered.",
             .good = "No node must know who the sources are, and any number of them takes the steps of one gather and one broadcast; but "
                     "everything passes the channels of one node."},
    .terms = terms,
    .native = {},
    .needs = {.shape = Requirements::Shape::torus, .switching = Switching::wormhole},
    .parameters = swath_parameters,
    .also_requires = also_requires,
    .plan = plan,
};

}  // namespace

extern const Entries entries{relay};

}  // namespace torus::multinode_broadcast::relay
