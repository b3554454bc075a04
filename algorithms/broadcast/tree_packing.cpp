#include "algorithms/broadcast/tree_packing.hpp"

#include <memory>

#include "algorithms/broadcast/tree_chunks.hpp"
#include "algorithms/common/packed_trees.hpp"

namespace torus::broadcast {
namespace {

Program program(Node& self, const TreeChunks& trees, std::uint32_t chunks) {
  const auto steps = static_cast<Step>(trees.steps(chunks));
  const BlockId first = trees.trees().root() * (chunks * trees.shares());
  for (Step step = 0; step < steps; ++step) {
    trees.send_down(self, chunks, step, first);
    co_await self.step();
  }
}

std::optional<Refusal> also_requires(const Machine& machine, const Request& request) {
  if (auto refusal = too_large_to_pack("tree-packing", machine.topology)) return refusal;
  return too_many_chunks("tree-packing", machine.topology, request, ArcTrees::most(machine.topology));
}

Plan plan(const Machine& machine, const Request& request, PlanCache& cache) {
  const auto trees = std::make_shared<const TreeChunks>(packed_trees(machine.topology, request.sources.front(), cache));
  const std::uint32_t chunks = trees->chunks(machine, request, request.bytes, machine.cost.byte_s, [&](std::uint32_t k) {
    const auto steps = static_cast<double>(trees->steps(k));
    return machine.cost.steps(steps, trees->down(request.bytes, k), steps);
  });
  Plan plan;
  plan.segments = chunks * trees->shares();
  plan.steps = trees->steps(chunks);
  plan.formula = "height of the trees + K-1";
  plan.channel_bytes = trees->down(request.bytes, chunks);
  plan.route_hops = plan.steps;
  plan.table_bytes = trees->trees().table_bytes();
  plan.notes = trees->notes(chunks);
  plan.start = [trees, chunks](Node& self) { return program(self, *trees, chunks); };
  return plan;
}

Bytes planning_bytes(const Machine& machine) { return packing_bytes(machine.topology); }

}  // namespace

const Algorithm tree_packing{
    .name = "tree-packing",
    .collective = Collective::broadcast,
    .source = "Edmonds 1973, by growth as in Lovasz 1976: as many arc-disjoint trees as the cut allows, pipelined",
    .shapes = "any, up to 1024 nodes and 8192 channels",
    .steps = "height of the trees + K-1, K segments a tree",
    .native = {.switching = Switching::packet},
    .needs = {.ports = Requirements::all_ports, .lives_with_holes = true, .takes_twists = true},
    .parameters = tree_chunk_parameters,
    .also_requires = also_requires,
    .plan = plan,
    .planning_bytes = planning_bytes,
};

}  // namespace torus::broadcast
