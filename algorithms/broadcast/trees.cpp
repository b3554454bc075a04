/// Broadcast down arc-disjoint spanning trees: the message is split into k K segments, dealt out to k trees, K each. In each of the first K
/// steps the root sends the next segment of every tree; a node passes a segment on in the step after it came.
///   edst-broadcast  2k trees in closed form, on tori of k dimensions
///   tree-packing    the maximum number of trees on any machine, found by search around its holes
///
/// Machine  packet (single hops), all ports, no channel shared. Tori of any extents and up to 8 dimensions of more than one node; or any
///          topology up to a size, with dead links and nodes too. All nodes know the machine, its holes and the root, and so the trees.
/// Memory   a byte a channel of tables; 14 N k bytes while the closed form is made; O(1) a node.
/// Steps    H + K - 1, H the height of the trees: D + 2 for n x n, n >= 4.
/// Bytes    m / kK in each step: m T_c / k in all, times 1 + (H-1)/K. k is the minimum cut between the root and a living node (Edmonds), so
///          this is the bound of long messages. Best K = sqrt((H-1) m T_c / (k T_s)); the time is then
///          (sqrt((H-1) T_s) + sqrt(m T_c / k))^2.
/// Choice   `segments`, K. Without it the K of least model time.
/// Header   none.
/// Speeds   tree-packing: a channel is in as many trees as its speed allows (link_capacities.hpp), so k counts trees and not channels.
/// Source   the trees: closed_form.cpp, packing.cpp; pipelining over them as in Johnsson & Ho, "Optimum Broadcasting and Personalized
///          Communication in Hypercubes".

#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/entries.hpp"
#include "algorithms/trees/arc_trees.hpp"
#include "algorithms/trees/centre.hpp"
#include "algorithms/trees/rooted_flow.hpp"

namespace torus::broadcast::trees {
namespace {

Plan plan_down(const Machine& machine, const Request& request, std::shared_ptr<const ArcTrees> trees) {
  const NodeId root = request.sources.front();
  const RootedFlow flow(trees, machine, root);
  const bool one_speed = machine.cost.one_speed();
  const std::uint32_t chunks = flow.chunks(machine, request, request.bytes, 1, [&](std::uint32_t k) {
    const auto steps = static_cast<double>(flow.steps(k));
    return one_speed ? machine.cost.steps(steps, flow.down(request.bytes, k), steps)
                     : machine.cost.timed_steps(steps, flow.down_s(request.bytes, k, 1), steps);
  });
  Plan plan;
  plan.segments = chunks * trees->shares();
  plan.start = [trees, root, segments = plan.segments](Node& self) {
    return send_down_trees(self, *trees, root, BlockId{root} * segments, segments, nullptr);
  };
  plan.steps = flow.steps(chunks);
  plan.formula = "height of the trees + K-1";
  plan.channel_bytes = flow.down(request.bytes, chunks);
  if (!one_speed) plan.channel_time_s = flow.down_s(request.bytes, chunks, 1);
  plan.route_hops = plan.steps;
  plan.table_bytes = trees->table_bytes();
  plan.notes = flow.notes(chunks);
  return plan;
}

constexpr std::array down_terms{Term{"K", "segments that go down each tree"},
                                Term{"D", "diameter: the hops between the two nodes that are farthest apart"}};

constexpr Algorithm edst_broadcast{
    .name = "edst-broadcast",
    .collective = Collective::broadcast,
    .source = "arc-disjoint spanning trees of this project, pipelined after Johnsson & Ho; long messages near the byte bound",
    .shapes = "torus of any dimension up to 8, any sides",
    .steps = "height of the trees + K-1, K segments a tree: D + 1 + K for n x n, n >= 4",
    .idea = {.first = "The message is cut into a share for each channel of the root, and each share has a spanning tree of its own: no two "
                      "trees use the same channel.",
             .then = "In each step the root sends the next segment of every share down its tree, and each node passes on what came in the "
                     "step before.",
             .good = "All channels of the root carry different bytes in every step, so that a long message takes little longer than its "
                     "root needs to send it once."},
    .terms = down_terms,
    .native = {.switching = Switching::packet},
    .needs = {.shape = Requirements::Shape::torus, .ports = Requirements::all_ports},
    .parameters = rooted_flow_parameters,
    .also_requires = [](const Machine& machine, const Request& request) -> std::optional<Refusal> {
      if (auto refusal = too_many_dimensions("edst-broadcast", machine.topology)) return refusal;
      return too_many_chunks("edst-broadcast", machine.topology, request, closed_form_shares(machine.topology));
    },
    .plan =
        [](const Machine& machine, const Request& request, PlanCache& cache) {
          Plan plan = plan_down(machine, request, cache.of<closed_form_trees>(machine));
          plan.formula += " (height D + 2 for n x n, n >= 4)";
          return plan;
        },
    .offer = offer_from_one,
    .planning_bytes = [](const Machine& machine) { return closed_form_bytes(machine.topology); },
};

constexpr Algorithm tree_packing{
    .name = "tree-packing",
    .collective = Collective::broadcast,
    .source = "Edmonds 1973, by growth as in Lovasz 1976: as many arc-disjoint trees as the cut allows, pipelined",
    .shapes = "any, up to 1024 nodes and 8192 channels",
    .steps = "height of the trees + K-1, K segments a tree",
    .idea =
        {.first = "A search packs as many spanning trees from the root as the narrowest cut of the machine allows, with no channel in "
                  "common, around dead links and nodes.",
         .then = "Each tree carries one share of the message, and the segments of all shares go down their trees at the same time, one "
                 "behind the other.",
         .good =
             "No broadcast of a long message beats the narrowest cut, and the trees together fill it, also where the machine has holes."},
    .terms = down_terms,
    .native = {.switching = Switching::packet},
    .needs = {.ports = Requirements::all_ports, .lives_with_holes = true, .takes_twists = true},
    .parameters = rooted_flow_parameters,
    .also_requires = [](const Machine& machine, const Request& request) -> std::optional<Refusal> {
      if (auto refusal = too_large_to_pack("tree-packing", machine.topology)) return refusal;
      return too_many_chunks("tree-packing", machine.topology, request, most_packed_trees(machine));
    },
    .plan =
        [](const Machine& machine, const Request& request, PlanCache& cache) {
          std::vector<Plan> plans;
          for (const std::uint32_t most : packings_to_try(machine))
            plans.push_back(plan_down(machine, request, packed_trees(machine, request.sources.front(), most, cache)));
          return *cheapest(plans, [&](const Plan& plan) { return std::optional(plan.model_time_s(machine.cost)); });
        },
    .offer = offer_from_one,
    .planning_bytes = [](const Machine& machine) { return packing_bytes(machine); },
};

}  // namespace

extern const Entries entries{edst_broadcast, tree_packing};

}  // namespace torus::broadcast::trees
