#include "algorithms/multinode_broadcast/edst.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "algorithms/common/linked_dimensions.hpp"
#include "algorithms/common/parameters.hpp"
#include "algorithms/multinode_broadcast/bundle.hpp"
#include "algorithms/multinode_broadcast/count.hpp"
#include "algorithms/multinode_broadcast/forecast.hpp"

namespace torus::multinode {
namespace {

constexpr std::size_t most_axes = 8;

/// What waits to be passed on, by direction, first in, first out.
class Queues {
 public:
  Queues(Node& self, const Forest& forest) : self_{self}, forest_{forest}, queues_(forest.trees()) {
    for (const BlockId block : self.blocks()) push(block);
  }

  bool empty() const noexcept { return waiting_ == 0; }

  void take(const Message& m) {
    for (const BlockId block : m.blocks()) push(block);
  }

  /// At most `chunk` blocks a direction; 0: all.
  void send(std::size_t chunk) {
    for (std::size_t d = 0; d < queues_.size(); ++d) {
      Queue& queue = queues_[d];
      const std::size_t there = queue.blocks.size() - queue.head;
      if (there == 0) continue;
      const std::size_t count = chunk == 0 ? there : std::min(chunk, there);
      self_.send({forest_.leg(static_cast<Direction>(d))}, std::span<const BlockId>(queue.blocks).subspan(queue.head, count));
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
    for (unsigned onward = forest_.onward(self_.topology(), self_.rank(), block); onward != 0; onward &= onward - 1) {
      queues_[static_cast<std::size_t>(std::countr_zero(onward))].blocks.push_back(block);
      ++waiting_;
    }
  }

  Node& self_;
  const Forest& forest_;
  std::vector<Queue> queues_;
  std::size_t waiting_ = 0;
};

std::uint32_t trees_on(const Machine& machine) {
  return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(2 * linked_dimensions(machine.topology).size()));
}

std::optional<Refusal> unfit(std::string_view name, const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  const std::vector<Dimension> axes = linked_dimensions(topology);
  if (axes.size() > most_axes) {
    std::vector<DimensionShape> first;
    for (std::size_t i = 0; i < most_axes; ++i) first.push_back(topology.shape()[static_cast<std::size_t>(axes[i])]);
    return Refusal{Refusal::About::shape, topology.text(),
                   std::string(name) + " takes at most " + std::to_string(most_axes) + " dimensions of more than one node",
                   Topology(std::move(first)).text()};
  }
  const std::uint32_t segments = request.parameters.whole("segments"), trees = trees_on(machine);
  if (segments % trees == 0) return std::nullopt;
  return Refusal{Refusal::About::parameter, std::to_string(segments),
                 std::string(name) + " needs a multiple of its " + std::to_string(trees) + " trees",
                 std::to_string((segments / trees + 1) * trees), "segments"};
}

std::optional<Refusal> also_requires(const Machine& machine, const Request& request) {
  if (request.parameters.whole("chunk") > 0 && !allows(machine.switching, Switching::wormhole)) {
    return Refusal{Refusal::About::switching, std::string(name(machine.switching)), "edst with a chunk counts the sources over long routes",
                   std::string(name(Switching::wormhole))};
  }
  return unfit("edst", machine, request);
}
std::optional<Refusal> also_requires_pipelined(const Machine& machine, const Request& request) {
  return unfit("edst-pipelined", machine, request);
}

void describe(Plan& plan, const Forest& forest, const Request& request) {
  plan.segments = forest.segments();
  plan.table_bytes = forest.table_bytes();
  plan.node_bytes = 2 * sizeof(BlockId) * request.sources.size() * forest.segments();
  plan.notes = {{"trees a source", std::to_string(forest.trees())}, {"height of the trees", std::to_string(forest.height())}};
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
  describe(plan, *forest, request);
  plan.notes.emplace_back("sources assumed by the prediction", decimal(assumed_sources(machine, request)));
  return plan;
}

/// A byte a node and tree for the entry, 2 for the children, 4 for the depth.
Bytes planning_bytes(const Machine& machine) { return Bytes{7} * machine.topology.nodes() * trees_on(machine); }

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

Plan plan_pipelined(const Machine& machine, const Request& request) {
  const double nodes = machine.topology.nodes();
  const double s = assumed_sources(machine, request);
  const double most = request.expected_sources ? s : nodes;  // of whom nothing is known may be all
  const std::uint32_t trees = trees_on(machine);
  const Pipeline pipeline = choose(machine, request, s, machine.topology.diameter() + 2);
  const auto forest = std::make_shared<const Forest>(machine.topology, pipeline.segments);
  Plan plan;
  plan.start = [forest, chunk = pipeline.chunk](Node& self) { return edst_pipelined_program(self, *forest, chunk); };
  const double cut = std::floor(static_cast<double>(pipeline.segments) / trees), height = forest->height();
  // On its way into a node a channel carries the messages of all sources but that node.
  const double load = std::ceil(std::min(most, std::max(0.0, nodes - 1)) * cut / pipeline.chunk);
  const double rounds = height > 0 ? height + load : 0;
  const double most_rounds = height > 0 ? std::ceil(cut / pipeline.chunk) + (height - 1) * load : 0;
  plan.steps = forest->counting_steps() + static_cast<std::uint64_t>(most_rounds);
  plan.steps_estimate = forest->counting_steps() + static_cast<std::uint64_t>(rounds);
  plan.steps_exact = false;
  plan.formula = "2 sum L3(n_t) + ceil(U/C) + (height-1) ceil(min(s, N-1) U / C)";
  const Bytes segment = (request.bytes + pipeline.segments - 1) / pipeline.segments;
  const double full_chunks = rounds * pipeline.chunk * static_cast<double>(segment);
  plan.channel_bytes = 4.0 * forest->counting_steps() + std::min(full_chunks, forest->channel_bytes(most, request.bytes));
  describe(plan, *forest, request);
  plan.notes.emplace_back("chunk (segments a channel and step)", std::to_string(pipeline.chunk));
  plan.notes.emplace_back("sources assumed by the limit", decimal(most));
  plan.notes.emplace_back("steps as a rule", std::to_string(*plan.steps_estimate));
  return plan;
}

Plan plan(const Machine& machine, const Request& request) {
  return request.parameters.whole("chunk") > 0 ? plan_pipelined(machine, request) : plan_synchronous(machine, request);
}

constexpr std::array parameters{parameter::segments, parameter::chunk};

}  // namespace

Program edst_program(Node& self, const Forest& forest) {
  Queues queues(self, forest);
  for (std::uint32_t step = 0; step < forest.height(); ++step) {
    self.phase("trees");
    queues.send(0);
    for (const Message& m : co_await self.step()) queues.take(m);
  }
}

Program edst_pipelined_program(Node& self, const Forest& forest, std::uint32_t chunk) {
  std::size_t held = self.blocks().size();
  const std::uint32_t sources = co_await count_everywhere(self, forest.axes(), forest.counting(), held > 0 ? 1 : 0);
  Queues queues(self, forest);
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

const Algorithm edst{
    .name = "edst",
    .collective = Collective::multinode_broadcast,
    .source = "after Varvarigos & Bertsekas: arc-disjoint spanning trees, synchronous; with chunk C pipelined",
    .shapes = "torus of any dimension up to 8, any sides",
    .steps = "height of the trees: D + 2 for n x n, n >= 4",
    .native = {},  // packet switching would do for the synchronous form, but a chunk needs more
    .needs = {.shape = Requirements::Shape::torus, .ports = Requirements::all_ports},
    .parameters = parameters,
    .also_requires = also_requires,
    .plan = plan,
    .planning_bytes = planning_bytes,
};

const Algorithm edst_pipelined{
    .name = "edst-pipelined",
    .collective = Collective::multinode_broadcast,
    .source = "after Varvarigos & Bertsekas: arc-disjoint spanning trees, first in, first out; meets the byte bound",
    .shapes = "torus of any dimension up to 8, any sides",
    .steps = "about 2 sum L3(n_t) + height + ceil(s U / C)",
    .native = {},
    .needs = {.shape = Requirements::Shape::torus, .switching = Switching::wormhole, .ports = Requirements::all_ports},
    .parameters = parameters,
    .also_requires = also_requires_pipelined,
    .plan = plan_pipelined,
    .planning_bytes = planning_bytes,
};

}  // namespace torus::multinode
