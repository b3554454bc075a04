#include "algorithms/reduction/tree_packing.hpp"

#include <array>

#include "algorithms/common/packed_trees.hpp"
#include "algorithms/common/parameters.hpp"
#include "algorithms/reduction/packed_halves.hpp"
#include "algorithms/reduction/segment_bytes.hpp"
#include "algorithms/reduction/trees.hpp"

namespace torus::reduction {
namespace {

constexpr std::array chunk_alone{parameter::chunk};
constexpr std::array both_parameters{broadcast::tree_chunk_parameters[0], parameter::chunk};

std::optional<Refusal> also_requires(const Machine& machine, const Request& request) {
  if (auto refusal = too_large_to_pack("tree-packing", machine.topology)) return refusal;
  if (request.parameters.whole("chunk") > 0 && request.parameters.whole("segments") > 0) {
    return Refusal{Refusal::About::parameter, std::to_string(request.parameters.whole("chunk")),
                   "tree-packing goes over a root in segments, or between all nodes in chunks", "", "chunk"};
  }
  return broadcast::too_many_chunks("tree-packing", machine.topology, request, ArcTrees::most(machine.topology));
}

Plan plan_over_root(const Machine& machine, const Request& request, PlanCache& cache) {
  const NodeId root = has_root(request.collective) ? request.sources.front() : centre_of(machine.topology);
  return plan_over_trees(machine, request, packed_trees(machine.topology, root, cache));
}

Plan plan_rounds(const Machine& machine, const Request& request, BlockOwners owners, std::uint32_t chunk, PlanCache& cache) {
  const auto halves = cache.of<PackedHalves::pack>(machine.topology, chunk, owners);
  Plan plan = plan_halves(machine, request, halves, "T, T = " + std::to_string(halves->steps()) + " by search", 1);
  plan.notes.emplace_back("chunk (blocks a channel and step)", std::to_string(chunk));
  return plan;
}

Plan plan_gather(const Machine& machine, const Request& request, PlanCache& cache) {
  const std::uint32_t chunk = request.parameters.whole("chunk");
  return plan_rounds(machine, request, BlockOwners::ranks,
                     chunk > 0 ? chunk : choose_chunk(machine, BlockOwners::ranks, request.bytes).chunk, cache);
}

Plan plan_allreduce(const Machine& machine, const Request& request, PlanCache& cache) {
  if (request.parameters.whole("segments") > 0) return plan_over_root(machine, request, cache);
  const auto choose = [&](BlockOwners owners) {
    const std::size_t blocks = owners_of(owners, machine.topology).size();
    return choose_chunk(machine, owners, SegmentBytes(request, static_cast<std::uint32_t>(blocks)).longest);
  };
  const ChunkChoice even = choose(BlockOwners::vector), balanced = choose(BlockOwners::balanced_vector);
  const BlockOwners owners = balanced.time_s < even.time_s ? BlockOwners::balanced_vector : BlockOwners::vector;
  const ChunkChoice choice = balanced.time_s < even.time_s ? balanced : even;
  if (const std::uint32_t chunk = request.parameters.whole("chunk"); chunk > 0) return plan_rounds(machine, request, owners, chunk, cache);
  Plan over_root = plan_over_root(machine, request, cache);
  constexpr double doubtful = 1.1;  // the estimate errs by less
  if (2 * choice.time_s > doubtful * over_root.model_time_s(machine.cost)) return over_root;
  Plan rounds = plan_rounds(machine, request, owners, choice.chunk, cache);
  return rounds.model_time_s(machine.cost) < over_root.model_time_s(machine.cost) ? rounds : over_root;
}

Bytes bytes_over_root(const Machine& machine) { return packing_bytes(machine.topology); }
Bytes bytes_of_rounds(const Machine& machine) { return packed_halves_bytes(machine.topology); }
Bytes bytes_of_both(const Machine& machine) { return bytes_over_root(machine) + bytes_of_rounds(machine); }

constexpr Algorithm tree_packing(Collective collective, std::string_view source, std::string_view steps,
                                 std::span<const Parameter> parameters, Planner plan, Bytes (*planning_bytes)(const Machine&)) {
  return {.name = "tree-packing",
          .collective = collective,
          .source = source,
          .shapes = "any, up to 1024 nodes and 8192 channels",
          .steps = steps,
          .native = {.switching = Switching::packet},
          .needs = {.ports = Requirements::all_ports, .lives_with_holes = true, .takes_twists = true},
          .parameters = parameters,
          .also_requires = also_requires,
          .plan = plan,
          .planning_bytes = planning_bytes};
}

constexpr std::string_view of_trees = "Edmonds 1973, by growth as in Lovasz 1976: as many arc-disjoint trees as the cut allows, pipelined";
constexpr std::string_view of_rounds = "after Won et al., TACOS: a tree for each block, grown step by step by matchings";
constexpr std::string_view about = "about (D^4 + ((N-1)/(c C))^4)^(1/4), c the fewest channels of a node, C blocks a channel";

}  // namespace

const Algorithm tree_packing_reduce = tree_packing(Collective::reduce, of_trees, "height of the trees + K-1, K segments a tree",
                                                   broadcast::tree_chunk_parameters, plan_over_root, bytes_over_root);
const Algorithm tree_packing_allreduce =
    tree_packing(Collective::allreduce, of_trees, "2 (height of the trees + K-1), K segments a tree; or twice a multi-node broadcast's",
                 both_parameters, plan_allreduce, bytes_of_both);
const Algorithm tree_packing_reduce_scatter =
    tree_packing(Collective::reduce_scatter, of_rounds, about, chunk_alone, plan_gather, bytes_of_rounds);
const Algorithm tree_packing_all_gather =
    tree_packing(Collective::multinode_broadcast, of_rounds, about, chunk_alone, plan_gather, bytes_of_rounds);

}  // namespace torus::reduction
