/// Multi-node broadcast over arc-disjoint spanning trees: 2k trees a source, each message split into 2k U segments, segment y on tree
/// y mod 2k.
///
/// The trees of a source are those of node 0, moved: node v stands in source o's trees at displacement v - o, which a node reads off the
/// identity of an arriving block. Whatever the sources, almost every link carries s m / 2k bytes in all.
///   synchronous  all that a step brought goes on in the next, one bundle a channel.       height steps
///   pipelined    at most C segments a channel and step, first in, first out. To end without a global view, the nodes first count the
///                sources (ternary along each dimension, and back); a node ends when it holds 2k U s segments and has none to pass on.
///                2 sum L3(n_t) + height + ceil(s U / C) steps as a rule
/// Limit of the pipelined steps: 2 sum L3(n_t) + ceil(U/C) + (height-1) ceil(s U / C). As the 2k trees of a source enter a node by 2k
/// channels, a channel carries one tree's segments of each source, s U in all, and each of them once. Every step in which one of them waits
/// takes C others away, so it crosses the channel within ceil(s U / C) steps of reaching it; on the first channel of its way it stands
/// behind no more than the U of its own source. The rule above is an estimate: most runs end below it, on some shapes a run takes a third
/// more.
/// Machine  torus of 1..8 dimensions of more than one node, packet (single hops; the counting: wormhole), all ports, no channel shared.
/// Memory   a byte a channel of tables, 14 N k bytes while they are made; a node queues at most all segments.
/// Choice   `variant`: synchronous or pipelined; `chunk`, C, makes it pipelined. Without them the variant of least model time. `segments`,
///          2k U, and C: without them near the least of (H + s U / C) (T_s + T_h + C m T_c / 2kU).
/// Header   counting: one word; data: none.
/// Source   Varvarigos & Bertsekas, partial multinode broadcast; the trees and the counting: this project.

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/common/parameters.hpp"
#include "algorithms/common/received.hpp"
#include "algorithms/common/shapes.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/multinode_broadcast/forecast.hpp"
#include "algorithms/multinode_broadcast/line_tree.hpp"
#include "algorithms/multinode_broadcast/source_names.hpp"
#include "algorithms/program_memory.hpp"
#include "algorithms/trees/arc_trees.hpp"

namespace torus::multinode_broadcast::edst {
namespace {

/// What every node knows beforehand.
struct Scheme {
  std::shared_ptr<const ArcTrees> trees;
  std::uint32_t segments;  ///< of a message, a multiple of the trees
  std::uint32_t chunk;     ///< segments a channel and step; 0: synchronous
  std::vector<Dimension> axes = {};
  std::vector<LineTree> counting = {};  ///< by axis
};

/// The blocks that a node still has to pass on in the trees, by channel, first in, first out.
class Queues {
 public:
  Queues(Node& self, const Scheme& scheme) : self_{self}, scheme_{scheme}, queues_(scheme.trees->slots()) {
    for (const BlockId block : self.blocks()) push(block);
  }

  bool empty() const noexcept { return waiting_ == 0; }

  void take(const Message& m) {
    for (const BlockId block : m.blocks()) push(block);
  }

  /// At most a chunk a channel.
  void send() {
    for (std::uint32_t slot = 0; slot < queues_.size(); ++slot) {
      Queue& queue = queues_[slot];
      const std::size_t there = queue.blocks.size() - queue.head;
      if (there == 0) continue;
      const std::size_t count = scheme_.chunk == 0 ? there : std::min<std::size_t>(scheme_.chunk, there);
      self_.send({scheme_.trees->leg(slot)}, std::span<const BlockId>(queue.blocks).subspan(queue.head, count));
      waiting_ -= count;
      queue.head += count;
      if (queue.head < queue.blocks.size()) continue;
      queue.blocks.clear();
      queue.head = 0;
    }
  }

 private:
  struct Queue {
    Bundle blocks;
    std::size_t head = 0;
  };

  void push(BlockId block) {
    const ArcTrees& trees = *scheme_.trees;
    if (trees.trees() == 0) return;
    const NodeId place = trees.place(self_.topology(), self_.rank(), static_cast<NodeId>(block / scheme_.segments));
    trees.each_child(place, static_cast<std::uint32_t>(block % trees.trees()), [&](std::uint32_t slot) {
      queues_[slot].blocks.push_back(block);
      ++waiting_;
    });
  }

  Node& self_;
  const Scheme& scheme_;
  std::vector<Queue> queues_;  // by channel slot
  std::size_t waiting_ = 0;
};

Program synchronous_program(Node& self, const Scheme& scheme) {
  Queues queues(self, scheme);
  for (std::uint32_t step = 0; step < scheme.trees->height(); ++step) {
    self.phase("trees");
    queues.send();
    for (const Message& m : co_await self.step()) queues.take(m);
  }
}

Program pipelined_program(Node& self, const Scheme& scheme) {
  std::size_t held = self.blocks().size();
  const std::uint32_t counted = co_await count_everywhere(self, scheme.axes, scheme.counting, held > 0 ? 1 : 0);
  const NodeId sources = bounded(counted, NodeId{0}, self.topology().nodes(), "number of sources");
  Queues queues(self, scheme);
  const std::size_t wanted = std::size_t{sources} * scheme.segments;
  while (held < wanted || !queues.empty()) {
    self.phase("trees");
    queues.send();
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

/// The synchronous variant's sum over the steps of the most bytes on a channel; exact if all nodes are sources, an estimate for random
/// ones.
double channel_bytes(const Topology& topology, const ArcTrees& trees, std::uint32_t segments, double sources, Bytes bytes) {
  const std::uint32_t slots = trees.slots();
  const double nodes = topology.nodes(), share = sources / nodes;
  std::vector<double> weight(trees.trees(), 0);  // of a message's segments on each tree
  for (std::uint32_t y = 0; y < segments && !weight.empty(); ++y) {
    const Bytes segment = bytes / segments + (y < bytes % segments ? 1 : 0);
    weight[y % weight.size()] += static_cast<double>(segment);
  }
  // How many arcs of each direction lie at each depth, and what they carry if all are sources: by symmetry, what a channel carries.
  struct Load {
    double arcs = 0, bytes = 0;
  };
  std::vector<Load> loads(std::size_t{trees.height() + 1} * slots);
  for (std::uint32_t r = 0; r < trees.trees(); ++r) {
    trees.each_arc(topology, r, [&](NodeId, std::uint32_t slot, NodeId, std::uint32_t depth) {
      Load& load = loads[std::size_t{depth} * slots + slot];
      load.arcs += 1;
      load.bytes += weight[r];
    });
  }
  double sum = 0;
  for (std::uint32_t depth = 1; depth <= trees.height(); ++depth) {
    double most = 0;
    for (std::uint32_t slot = 0; slot < slots; ++slot) {
      const Load& load = loads[std::size_t{depth} * slots + slot];
      if (load.arcs > 0) most = std::max(most, load.bytes / load.arcs * fullest(load.arcs * share, nodes * trees.trees(), load.arcs));
    }
    sum += most;
  }
  return sum;
}

/// Segments, memory and notes.
void describe(Plan& plan, const Scheme& scheme, const Request& request, std::string_view variant) {
  plan.segments = scheme.segments;
  plan.table_bytes = scheme.trees->table_bytes();
  const std::uint64_t queues = scheme.trees->slots();
  plan.node_bytes += bytes_of_lists(queues + 1, request.sources.size() * scheme.segments) + queues * sizeof(std::size_t);
  plan.notes = {{"trees a source", std::to_string(scheme.trees->trees())},
                {"height of the trees", std::to_string(scheme.trees->height())},
                {"variant", std::string(variant)}};
}

Plan plan_synchronous(const Machine& machine, const Request& request, std::shared_ptr<const ArcTrees> trees) {
  const std::uint32_t asked = request.parameters.whole("segments");
  const double s = assumed_sources(machine, request);
  const auto scheme = std::make_shared<const Scheme>(Scheme{.trees = trees, .segments = asked > 0 ? asked : trees->shares(), .chunk = 0});
  Plan plan;
  plan.start = [scheme](Node& self) { return synchronous_program(self, *scheme); };
  plan.steps = trees->height();
  plan.route_hops = plan.steps;
  plan.formula = "height of the trees (D + 2 for n x n, n >= 4)";
  plan.channel_bytes = channel_bytes(machine.topology, *trees, scheme->segments, s, request.bytes);
  describe(plan, *scheme, request, "synchronous");
  plan.notes.emplace_back("sources assumed by the prediction", decimal(s));
  return plan;
}

/// Chunk and segments that make (H + s U / C) (T_s + T_h + C m T_c / 2kU) least.
Scheme pipeline(const Machine& machine, const Request& request, std::shared_ptr<const ArcTrees> arc_trees) {
  const double trees = arc_trees->shares(), s = assumed_sources(machine, request), height = machine.topology.diameter() + 2;
  const double m = std::max(1.0, static_cast<double>(request.bytes));
  const double step_s = machine.cost.steps(1, 0, 1);
  const double best = std::sqrt(trees * std::max(1.0, s) * step_s / (std::max(1.0, height) * m * std::max(1e-30, machine.cost.byte_s)));
  constexpr double finest = 16;  // finer cuts bring little and cost the host much
  double cut = request.parameters.whole("segments") > 0
                   ? request.parameters.whole("segments") / trees
                   : std::clamp(std::floor(1 / std::max(best, 1e-9)), 1.0, std::max(1.0, std::min(finest, m / trees)));
  cut = std::floor(cut);
  const double chunk =
      request.parameters.whole("chunk") > 0 ? request.parameters.whole("chunk") : std::clamp(std::round(best * cut), 1.0, 1e6);
  Scheme scheme{.trees = std::move(arc_trees),
                .segments = static_cast<std::uint32_t>(cut * trees),
                .chunk = static_cast<std::uint32_t>(chunk),
                .axes = linked_dimensions(machine.topology)};
  for (const Dimension d : scheme.axes) scheme.counting.push_back(LineTree::line(3, machine.topology.extent(d)));
  return scheme;
}

Plan plan_pipelined(const Machine& machine, const Request& request, std::shared_ptr<const ArcTrees> trees) {
  const double nodes = machine.topology.nodes();
  const double s = assumed_sources(machine, request);
  const double most = most_sources(machine, request);
  const auto scheme = std::make_shared<const Scheme>(pipeline(machine, request, trees));
  Plan plan;
  plan.start = [scheme](Node& self) { return pipelined_program(self, *scheme); };
  plan.node_bytes += frames_of_calls(machine, [&](Node& self) { make(count_everywhere(self, scheme->axes, scheme->counting, 0)); });
  std::uint64_t counting_steps = 0;
  for (const LineTree& tree : scheme->counting) counting_steps += 2 * static_cast<std::uint64_t>(tree.levels());
  const double chunk = scheme->chunk, cut = std::floor(static_cast<double>(scheme->segments) / trees->shares()), height = trees->height();
  // On its way into a node a channel carries the messages of all sources but that node.
  const auto load = [&](double sources) { return std::ceil(std::min(sources, std::max(0.0, nodes - 1)) * cut / chunk); };
  const double rounds = height > 0 ? height + load(s) : 0;
  const double most_rounds = height > 0 ? std::ceil(cut / chunk) + (height - 1) * load(most) : 0;
  plan.steps = counting_steps + static_cast<std::uint64_t>(most_rounds);
  plan.steps_estimate = counting_steps + static_cast<std::uint64_t>(rounds);
  plan.steps_exact = false;
  plan.formula = "2 sum L3(n_t) + ceil(U/C) + (height-1) ceil(min(s, N-1) U / C)";
  const Bytes segment = (request.bytes + scheme->segments - 1) / scheme->segments;
  const double full_chunks = rounds * chunk * static_cast<double>(segment);
  plan.channel_bytes = 4.0 * static_cast<double>(counting_steps) +
                       std::min(full_chunks, channel_bytes(machine.topology, *trees, scheme->segments, s, request.bytes));
  describe(plan, *scheme, request, "pipelined");
  plan.notes.emplace_back("chunk (segments a channel and step)", std::to_string(scheme->chunk));
  plan.notes.emplace_back("sources assumed by the limit", decimal(most));
  plan.notes.emplace_back("steps as a rule", std::to_string(*plan.steps_estimate));
  return plan;
}

constexpr std::array<std::string_view, 2> variants{"synchronous", "pipelined"};
constexpr std::array parameters{parameter::variant(variants), parameter::segments, parameter::chunk};
constexpr std::array former_names{FormerName{"edst-pipelined", "--variant pipelined"}};

/// The variant that the request states; empty: none.
std::string_view stated_variant(const Request& request) {
  return request.parameters.whole("chunk") > 0 ? variants[1] : request.parameters.word("variant");
}

std::optional<Refusal> also_requires(const Machine& machine, const Request& request) {
  const std::uint32_t chunk = request.parameters.whole("chunk"), segments = request.parameters.whole("segments");
  const std::uint32_t trees = closed_form_shares(machine.topology);
  if (chunk > 0 && request.parameters.word("variant") == variants[0])
    return Refusal{Refusal::About::parameter, std::to_string(chunk), "edst sends no chunks in its synchronous form", "", "chunk"};
  if (stated_variant(request) == variants[1] && !allows(machine.switching, Switching::wormhole)) {
    return Refusal{Refusal::About::switching, std::string(name(machine.switching)), "edst pipelined counts the sources over long routes",
                   std::string(name(Switching::wormhole))};
  }
  if (auto refusal = too_many_dimensions("edst", machine.topology)) return refusal;
  if (segments % trees == 0) return std::nullopt;
  return Refusal{Refusal::About::parameter, std::to_string(segments), "edst needs a multiple of its " + std::to_string(trees) + " trees",
                 std::to_string((segments / trees + 1) * trees), "segments"};
}

/// The stated variant, else that of least model time. Both send over single hops, aside from the counting.
Plan plan(const Machine& machine, const Request& request, PlanCache& cache) {
  const auto trees = cache.of<closed_form_trees>(machine);
  const std::string_view stated = stated_variant(request);
  std::vector<Plan> plans;
  if (stated != variants[1]) plans.push_back(plan_synchronous(machine, request, trees));
  if (stated != variants[0] && allows(machine.switching, Switching::wormhole)) plans.push_back(plan_pipelined(machine, request, trees));
  return *cheapest(plans, [&](const Plan& candidate) {
    const auto steps = static_cast<double>(candidate.likely_steps());
    return std::optional(machine.cost.steps(steps, candidate.channel_bytes, steps));
  });
}

constexpr std::array terms{Term{"s", "sources"}, Term{"U", "segments that a source sends down each tree"},
                           Term{"C", "segments that a channel takes in a step"},
                           Term{"height", "levels of the trees: steps from a source to the farthest node"}};

constexpr Algorithm edst{
    .name = "edst",
    .collective = Collective::multinode_broadcast,
    .source = "after Varvarigos & Bertsekas: arc-disjoint spanning trees, all at once or in chunks, which meets the byte bound",
    .shapes = "torus of any dimension up to 8, any sides",
    .steps = "height of the trees: D + 2 for n x n, n >= 4; in chunks about 2 sum L3(n_t) + height + ceil(s U / C)",
    .idea = {.first = "Each source cuts its message into a share for each of its channels, and sends each share down a spanning tree of "
                      "its own; the trees of one source have no channel in common.",
             .then = "What came in a step goes on in the next, for all sources in one message a channel; or in chunks of a limited size, "
                     "where the nodes count the sources first, so that they know when to end.",
             .good = "Wherever the sources are, nearly every channel carries the same number of bytes in all, so that long messages come "
                     "near the lower bound of the bytes."},
    .terms = terms,
    .native = {},  // packet switching would do for the synchronous form, but the counting needs more
    .needs = {.shape = Requirements::Shape::torus, .ports = Requirements::all_ports},
    .parameters = parameters,
    .also_requires = also_requires,
    .plan = plan,
    .planning_bytes = [](const Machine& machine) { return closed_form_bytes(machine.topology); },
    .former_names = former_names,
};

}  // namespace

extern const Entries entries{edst};

}  // namespace torus::multinode_broadcast::edst
