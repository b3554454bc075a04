#include "algorithms/reduction/trees.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <memory>
#include <string>

#include "algorithms/broadcast/segment_count.hpp"
#include "algorithms/reduction/tree_chunks.hpp"

namespace torus::reduction {
namespace {

constexpr std::array parameters{Parameter{"segments", "segments that each tree carries"}};

/// The chunk of a tree that is due `late` steps after the first; none before the first and after the last.
bool due(std::int64_t late, std::uint32_t chunks) { return late >= 0 && late < std::int64_t{chunks}; }

void send_up(Node& self, const TreeChunks& plan, std::uint32_t chunks, Step step) {
  for (std::uint32_t r = 0; r < plan.trees(); ++r) {
    const std::int64_t c = std::int64_t{step} - plan.height() + plan.depth(self.topology(), self.rank(), r);
    if (!due(c, chunks)) continue;
    self.forward(combine, {plan.to_parent(self.topology(), self.rank(), r)}, {{static_cast<BlockId>(c) * plan.trees() + r}});
  }
}

void send_down(Node& self, const TreeChunks& plan, std::uint32_t chunks, Step step) {
  for (std::uint32_t r = 0; r < plan.trees(); ++r) {
    const std::int64_t c = std::int64_t{step} - plan.depth(self.topology(), self.rank(), r);
    if (!due(c, chunks)) continue;
    for (unsigned to = plan.to_children(self.topology(), self.rank(), r); to != 0; to &= to - 1)
      self.send({plan.leg(static_cast<Direction>(std::countr_zero(to)))}, {{static_cast<BlockId>(c) * plan.trees() + r}});
  }
}

Program reduce(Node& self, const TreeChunks& plan, NodeId root, std::uint32_t chunks, bool gives_back) {
  const auto steps = static_cast<Step>(plan.steps(chunks));
  for (Step step = 0; step < steps; ++step) {
    self.phase("reduce");
    if (self.rank() != root) send_up(self, plan, chunks, step);
    co_await self.step();
  }
  for (Step step = 0; gives_back && step < steps; ++step) {
    self.phase("broadcast");
    send_down(self, plan, chunks, step);
    co_await self.step();
  }
}

NodeId root_of(const Request& request) { return request.collective == Collective::reduce ? request.sources.front() : 0; }

/// The segments that a tree may carry, since all nodes begin with all of them.
std::uint64_t most_chunks(const Topology& topology) {
  return std::max<std::uint64_t>(1, most_blocks / (std::uint64_t{topology.nodes()} * RootedTrees::shares(topology)));
}

std::optional<Refusal> also_requires(const Machine& machine, const Request& request) {
  if (auto refusal = RootedTrees::refuses("trees", machine.topology)) return refusal;
  const std::uint32_t chunks = request.parameters.whole("segments");
  const std::uint64_t most = most_chunks(machine.topology);
  if (chunks <= most) return std::nullopt;
  return Refusal{Refusal::About::parameter, std::to_string(chunks),
                 "trees on " + machine.topology.text() + " would begin with more than " + std::to_string(most_blocks) + " segments",
                 std::to_string(most), "segments"};
}

Plan plan_trees(const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  const NodeId root = root_of(request);
  const auto trees = std::make_shared<const TreeChunks>(topology, root);
  const bool both = request.collective == Collective::allreduce;
  const Bytes element = size_of(request.reduction.type), elements = request.bytes / element;
  const std::uint32_t shares = RootedTrees::shares(topology);
  const auto bytes_of = [&](std::uint64_t chunks) {
    return static_cast<double>((trees->up(elements, chunks) + (both ? trees->down(elements, chunks) : 0)) * element);
  };
  std::uint32_t chunks = request.parameters.whole("segments");
  if (chunks == 0) {
    const std::uint64_t holders = std::uint64_t{topology.nodes()} * shares;
    chunks =
        broadcast::best_segments(std::max(1.0, static_cast<double>(trees->height())) - 1, elements / shares,
                                 static_cast<NodeId>(std::min<std::uint64_t>(holders, std::numeric_limits<NodeId>::max())),
                                 machine.cost.byte_s * static_cast<double>(element), machine.cost.steps(1, 0, 1), [&](std::uint32_t k) {
                                   const auto steps = static_cast<double>((both ? 2 : 1) * trees->steps(k));
                                   return machine.cost.steps(steps, bytes_of(k), steps);
                                 });
  }
  Plan plan;
  plan.segments = chunks * shares;
  plan.start = [trees, root, chunks, both](Node& self) { return reduce(self, *trees, root, chunks, both); };
  plan.steps = (both ? 2 : 1) * trees->steps(chunks);
  plan.formula = std::string(both ? "2 " : "") + "(height of the trees + K-1)";
  plan.channel_bytes = bytes_of(chunks);
  plan.combined_bytes = static_cast<double>(trees->combined(topology, elements, chunks) * element);
  plan.route_hops = plan.steps;
  plan.table_bytes = trees->table_bytes();
  plan.notes = {{"trees", std::to_string(trees->trees())},
                {"height of the trees", std::to_string(trees->height())},
                {"segments a tree", std::to_string(chunks)}};
  return plan;
}

Bytes planning_bytes(const Machine& machine) { return RootedTrees::planning_bytes(machine.topology); }

constexpr Algorithm trees(Collective collective, std::string_view steps) {
  return {.name = "trees",
          .collective = collective,
          .source = "trees of this project after Varvarigos & Bertsekas, reversed; long vectors near the byte bound",
          .shapes = "torus of any dimension up to 8, any sides",
          .steps = steps,
          .native = {.switching = Switching::packet},
          .needs = {.shape = Requirements::Shape::torus, .ports = Requirements::all_ports},
          .parameters = parameters,
          .also_requires = also_requires,
          .plan = plan_trees,
          .planning_bytes = planning_bytes};
}

}  // namespace

const Algorithm trees_reduce = trees(Collective::reduce, "height of the trees + K-1, K segments a tree: D + 1 + K for n x n, n >= 4");
const Algorithm trees_allreduce =
    trees(Collective::allreduce, "2 (height of the trees + K-1), K segments a tree: 2 (D + 1 + K) for n x n, n >= 4");

}  // namespace torus::reduction
