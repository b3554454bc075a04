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
#include "algorithms/multinode_broadcast/machine_fit.hpp"

namespace torus::multinode {
namespace {

constexpr std::size_t most_axes = 8;

SpanningTrees trees_of(const Topology& topology, std::span<const Dimension> axes) {
  std::vector<std::int32_t> sides;
  for (const Dimension d : axes) sides.push_back(topology.extent(d));
  return SpanningTrees::of(sides);
}

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

std::optional<std::string> refuses_any(std::string_view name, const Machine& machine, const Request& request, bool pipelined) {
  if (auto why = refuses_torus(name, machine, pipelined ? Switching::wormhole : Switching::packet)) return why;
  const std::size_t axes = linked_dimensions(machine.topology).size();
  if (axes > most_axes) {
    return std::string(name) + " takes at most 8 dimensions: " + machine.topology.text() + " has " + std::to_string(axes) +
           ", 2^8 would do";
  }
  if (const std::size_t trees = std::max<std::size_t>(1, 2 * axes); request.parameters.whole("segments") % trees != 0) {
    return "--segments " + std::to_string(request.parameters.whole("segments")) + " is no multiple of the " + std::to_string(trees) +
           " trees, --segments " + std::to_string((request.parameters.whole("segments") / trees + 1) * trees) + " would do";
  }
  return std::nullopt;
}

std::optional<std::string> refuses(const Machine& machine, const Request& request) {
  return refuses_any("edst", machine, request, request.parameters.whole("chunk") > 0);
}
std::optional<std::string> refuses_pipelined(const Machine& machine, const Request& request) {
  return refuses_any("edst-pipelined", machine, request, true);
}

std::uint32_t trees_on(const Machine& machine) {
  return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(2 * linked_dimensions(machine.topology).size()));
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
  plan.route_hops = forest->counting_hops() + static_cast<std::uint64_t>(rounds);
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

Forest::Forest(const Topology& topology, std::uint32_t segments)
    : axes_{linked_dimensions(topology)}, trees_{trees_of(topology, axes_)}, segments_{segments} {
  children_.assign(std::size_t{trees_.nodes()} * trees_.trees(), 0);
  for (std::uint32_t node = 1; node < trees_.nodes(); ++node) {
    for (std::uint32_t r = 0; r < trees_.trees(); ++r) {
      const Direction d = trees_.entry(node, r);
      std::uint16_t& mask = children_[std::size_t{trees_.step(node, reverse(d))} * trees_.trees() + r];
      mask = static_cast<std::uint16_t>(mask | (1U << d));
    }
  }
  for (const Dimension d : axes_) counting_.push_back(LineTree::line(3, topology.extent(d)));
}

std::uint32_t Forest::counting_steps() const noexcept {
  std::int32_t steps = 0;
  for (const LineTree& tree : counting_) steps += 2 * tree.levels();
  return static_cast<std::uint32_t>(steps);
}

std::uint32_t Forest::counting_hops() const {
  std::int32_t hops = 0;
  for (const LineTree& tree : counting_) hops += 2 * tree.hops();
  return static_cast<std::uint32_t>(hops);
}

std::uint16_t Forest::onward(const Topology& topology, NodeId at, BlockId block) const noexcept {
  if (axes_.empty()) return 0;
  const auto source = static_cast<NodeId>(block / segments_);
  const auto tree = static_cast<std::uint32_t>(block % segments_) % trees_.trees();
  std::size_t displacement = 0;
  for (const Dimension d : axes_) {
    const std::int32_t n = topology.extent(d), offset = topology.coordinate(at, d) - topology.coordinate(source, d);
    displacement = displacement * static_cast<std::size_t>(n) + static_cast<std::size_t>(offset < 0 ? offset + n : offset);
  }
  return children_[displacement * trees_.trees() + tree];
}

double Forest::channel_bytes(double s, Bytes m) const {
  const std::uint32_t trees = trees_.trees();
  const double nodes = trees_.nodes(), share = s / nodes;
  if (trees == 0) return 0;
  std::vector<double> weight(trees, 0);  // of a message's segments on each tree
  for (std::uint32_t y = 0; y < segments_; ++y) weight[y % trees] += static_cast<double>(m / segments_ + (y < m % segments_ ? 1 : 0));
  // How many arcs of each direction lie at each depth, and what they carry if all are sources: by symmetry, what a channel carries.
  struct Load {
    double arcs = 0, bytes = 0;
  };
  std::vector<Load> loads(std::size_t{height() + 1} * trees);
  const std::vector<std::uint32_t> depths = trees_.depths();
  for (std::uint32_t node = 1; node < trees_.nodes(); ++node) {
    for (std::uint32_t r = 0; r < trees; ++r) {
      Load& load = loads[std::size_t{depths[std::size_t{node} * trees + r]} * trees + trees_.entry(node, r)];
      load.arcs += 1;
      load.bytes += weight[r];
    }
  }
  double sum = 0;
  for (std::uint32_t depth = 1; depth <= height(); ++depth) {
    double most = 0;
    for (std::uint32_t d = 0; d < trees; ++d) {
      const Load& load = loads[std::size_t{depth} * trees + d];
      if (load.arcs > 0) most = std::max(most, load.bytes / load.arcs * fullest(load.arcs * share, nodes * trees, load.arcs));
    }
    sum += most;
  }
  return sum;
}

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
    .source = "after Varvarigos & Bertsekas: arc-disjoint spanning trees, synchronous; with --chunk C pipelined",
    .shapes = "torus of any dimension up to 8, any sides",
    .ports = "all",
    .steps = "height of the trees: D + 2 for n x n, n >= 4",
    .native = {},  // packet switching would do for the synchronous form, but --chunk asks for more
    .parameters = parameters,
    .refuses = refuses,
    .plan = plan,
    .planning_bytes = planning_bytes,
};

const Algorithm edst_pipelined{
    .name = "edst-pipelined",
    .collective = Collective::multinode_broadcast,
    .source = "after Varvarigos & Bertsekas: arc-disjoint spanning trees, first in, first out; meets the byte bound",
    .shapes = "torus of any dimension up to 8, any sides",
    .ports = "all",
    .steps = "about 2 sum L3(n_t) + height + ceil(s U / C)",
    .native = {},
    .parameters = parameters,
    .refuses = refuses_pipelined,
    .plan = plan_pipelined,
    .planning_bytes = planning_bytes,
};

}  // namespace torus::multinode
