#include "algorithms/reduction/trees.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/common/rooted_trees.hpp"

namespace torus::reduction {
namespace {

Program reduce(Node& self, const broadcast::TreeChunks& trees, std::uint32_t chunks, bool gives_back) {
  const auto steps = static_cast<Step>(trees.steps(chunks));
  for (Step step = 0; step < steps; ++step) {
    self.phase("reduce");
    trees.send_up(self, chunks, step);
    co_await self.step();
  }
  for (Step step = 0; gives_back && step < steps; ++step) {
    self.phase("broadcast");
    trees.send_down(self, chunks, step, 0);
    co_await self.step();
  }
}

/// The trees in closed form, from a root.
ArcTrees trees_from(const Topology& topology, NodeId root) {
  const RootedTrees rooted(topology);
  ArcTrees trees(topology, root, rooted.trees());
  std::vector<NodeId> nodes;
  for (std::uint32_t r = 0; r < rooted.trees(); ++r) {
    nodes.assign(1, root);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      for (unsigned to = rooted.onward(topology, nodes[i], root * rooted.trees() + r, rooted.trees()); to != 0; to &= to - 1) {
        const Leg leg = rooted.leg(static_cast<Direction>(std::countr_zero(to)));
        nodes.push_back(*topology.neighbour(nodes[i], leg.dimension, leg.hops));
        trees.add(topology, r, nodes[i], leg, nodes.back());
      }
    }
  }
  return trees;
}

NodeId root_of(const Request& request) { return request.collective == Collective::reduce ? request.sources.front() : 0; }

std::optional<Refusal> also_requires(const Machine& machine, const Request& request) {
  if (auto refusal = RootedTrees::refuses("trees", machine.topology)) return refusal;
  return broadcast::too_many_chunks("trees", machine.topology, request, RootedTrees::shares(machine.topology));
}

Plan plan_trees(const Machine& machine, const Request& request) {
  return plan_over_trees(machine, request, std::make_shared<const ArcTrees>(trees_from(machine.topology, root_of(request))));
}

Bytes planning_bytes(const Machine& machine) {
  return RootedTrees::planning_bytes(machine.topology) + ArcTrees::table_bytes(machine.topology, RootedTrees::shares(machine.topology));
}

constexpr Algorithm trees(Collective collective, std::string_view steps) {
  return {.name = "trees",
          .collective = collective,
          .source = "trees of this project after Varvarigos & Bertsekas, reversed; long vectors near the byte bound",
          .shapes = "torus of any dimension up to 8, any sides",
          .steps = steps,
          .native = {.switching = Switching::packet},
          .needs = {.shape = Requirements::Shape::torus, .ports = Requirements::all_ports},
          .parameters = broadcast::tree_chunk_parameters,
          .also_requires = also_requires,
          .plan = plan_trees,
          .planning_bytes = planning_bytes};
}

}  // namespace

Plan plan_over_trees(const Machine& machine, const Request& request, std::shared_ptr<const ArcTrees> arc_trees) {
  const auto trees = std::make_shared<const broadcast::TreeChunks>(std::move(arc_trees));
  const NodeId nodes = machine.topology.nodes();
  const bool both = request.collective == Collective::allreduce;
  const Bytes element = size_of(request.reduction.type), elements = request.bytes / element;
  const auto bytes_of = [&](std::uint64_t chunks) {
    return (trees->up(elements, chunks) + (both ? trees->down(elements, chunks) : 0)) * static_cast<double>(element);
  };
  const std::uint32_t chunks =
      trees->chunks(machine, request, elements, machine.cost.byte_s * static_cast<double>(element), [&](std::uint32_t k) {
        const auto steps = static_cast<double>((both ? 2 : 1) * trees->steps(k));
        return machine.cost.steps(steps, bytes_of(k), steps);
      });
  Plan plan;
  plan.segments = chunks * trees->shares();
  plan.start = [trees, chunks, both](Node& self) { return reduce(self, *trees, chunks, both); };
  plan.steps = (both ? 2 : 1) * trees->steps(chunks);
  plan.formula = std::string(both ? "2 " : "") + "(height of the trees + K-1)";
  plan.channel_bytes = bytes_of(chunks);
  plan.combined_bytes = trees->combined(nodes, elements, chunks) * static_cast<double>(element);
  plan.route_hops = plan.steps;
  plan.table_bytes = trees->trees().table_bytes();
  plan.notes = trees->notes(chunks);
  return plan;
}

const Algorithm trees_reduce = trees(Collective::reduce, "height of the trees + K-1, K segments a tree: D + 1 + K for n x n, n >= 4");
const Algorithm trees_allreduce =
    trees(Collective::allreduce, "2 (height of the trees + K-1), K segments a tree: 2 (D + 1 + K) for n x n, n >= 4");

}  // namespace torus::reduction
