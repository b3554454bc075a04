/// Broadcast with any ports on any living graph: a spanning tree for each segment, grown together step by step by matchings.
///
/// In each step a matching over the whole machine says which channels work, as many as the ports allow, and each brings its head the
/// segment with the fewest copies that it lacks (search/round_search.hpp). One segment: receivers with the longest way on go first, by what
/// the trees of earlier tries took. All nodes know the machine and the root, and so the plan.
///
/// Machine  any switching (single hops), any ports, any shape, twisted or with holes, no channel shared.
/// Steps    as the search finds; for K segments near (K-1)/q + those of one, q = min(ports, fewest channels of a node). One segment: the
///          minimum on most machines small enough to tell.   Bytes  m/K in each step.
/// Choice   `segments`, K. Without it that of least model time among the best three powers of 2, by the estimate above. Above 1024 nodes
///          one segment, and above 4096 no augmenting paths.
/// Memory   a table of a line for each node and segment.   Header  none.
/// Source   this project, the growing of steps after Won et al., TACOS.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <torus/algorithm.hpp>
#include <torus/schedule.hpp>

#include "algorithms/bounds/growth.hpp"
#include "algorithms/common/canonical_form.hpp"
#include "algorithms/common/integers.hpp"
#include "algorithms/common/parameters.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/program_memory.hpp"
#include "algorithms/reduction/played_schedule.hpp"
#include "algorithms/search/round_search.hpp"
#include "algorithms/trees/centre.hpp"

namespace torus::broadcast::matchings {
namespace {

constexpr NodeId most_nodes_in_segments = 1024;

/// Segments that a search handles within a second.
std::uint32_t most_segments(const Topology& topology) {
  constexpr std::uint32_t effort = 1U << 16U, most = 1024;
  if (topology.nodes() > most_nodes_in_segments) return 1;
  return std::min(most, std::bit_floor(effort / topology.nodes()));
}

/// The sends, of segments 0, 1, ...
std::shared_ptr<const Schedule> search(const Machine& machine, NodeId root, std::uint32_t segments) {
  const CanonicalForm form(machine, root);
  const std::vector<NodeId> owners(segments, form.inside(root));
  const auto find = [&] { return RoundSearch(form.machine(), owners, LinkCapacities(form.machine(), 1)).attempt(1); };
  const RoundSearch::Rounds rounds = segments == 1 ? one_block_rounds(form.machine(), owners.front()) : find();
  Schedule found(machine.topology.nodes());
  for (std::size_t step = 0; step < rounds.size(); ++step) {
    for (const RoundSearch::Delivery& each : rounds[step]) {
      const BlockId segment = each.block;
      found.add(static_cast<Step>(step), each.from, each.to, {&each.leg, 1}, {&segment, 1}, Manner::copy);
    }
  }
  found.sort();
  return std::make_shared<const Schedule>(form.outside(found));
}

Plan plan_in(std::uint32_t segments, const Machine& machine, const Request& request, PlanCache& cache) {
  const NodeId root = request.sources.front();
  const auto found = *cache.of<search>(machine, root, segments);
  Plan plan;
  plan.segments = segments;
  plan.formula = "T, T = " + std::to_string(found->steps()) + " by search";
  reduction::play(plan, machine, request,
                  std::make_shared<const Schedule>(found->renumbered([&](BlockId segment) { return BlockId{root} * segments + segment; })));
  if (segments == 1) plan.message_bytes = bytes_of_messages(1) / 2;  // each node is told once
  plan.notes = {{"segments", std::to_string(segments)}};
  return plan;
}

/// Numbers of segments that may be the best: one, and of all powers of 2 the three with the least estimated time.
std::vector<std::uint32_t> segments_to_try(const Machine& machine, const Request& request, std::uint64_t steps_of_one) {
  std::uint64_t ports = static_cast<std::uint64_t>(machine.ports);
  for (const NodeId node : living_ranks(machine.topology)) ports = std::min(ports, channels_of(machine.topology, node));
  std::vector<std::pair<double, std::uint32_t>> times;
  for (std::uint32_t k = 2; k <= most_segments(machine.topology) && k <= request.bytes; k *= 2) {
    const double steps =
        static_cast<double>(steps_of_one) + static_cast<double>(k - 1) / static_cast<double>(std::max<std::uint64_t>(1, ports));
    times.emplace_back(machine.cost.steps(steps, steps * std::ceil(static_cast<double>(request.bytes) / k), steps), k);
  }
  std::sort(times.begin(), times.end());
  std::vector<std::uint32_t> segments{1};
  for (std::size_t i = 0; i < std::min<std::size_t>(3, times.size()); ++i) segments.push_back(times[i].second);
  return segments;
}

/// The model time that no schedule of K segments is under: the last of them leaves the root in step ceil(K/q) or later, and has the way to
/// the farthest node before it.
double least_time_s(const Machine& machine, const Request& request, std::uint32_t segments) {
  const NodeId root = request.sources.front();
  const std::uint64_t leave = std::min(channels_of(machine.topology, root), static_cast<std::uint64_t>(machine.ports));
  const auto steps = static_cast<double>(ceil_div<std::uint64_t>(segments, std::max<std::uint64_t>(1, leave)) - 1 +
                                         static_cast<std::uint64_t>(machine.topology.eccentricity(root)));
  const Bytes shortest = request.bytes / segments;
  return machine.cost.steps(steps, steps * static_cast<double>(shortest), steps);
}

Plan plan(const Machine& machine, const Request& request, PlanCache& cache) {
  if (const std::uint32_t segments = request.parameters.whole("segments"); segments > 0) return plan_in(segments, machine, request, cache);
  const std::uint64_t steps_of_one = (*cache.of<search>(machine, request.sources.front(), std::uint32_t{1}))->steps();
  std::optional<Plan> best;
  for (const std::uint32_t segments : segments_to_try(machine, request, steps_of_one)) {
    if (best && least_time_s(machine, request, segments) >= best->model_time_s(machine.cost)) continue;
    Plan found = plan_in(segments, machine, request, cache);
    if (!best || found.model_time_s(machine.cost) < best->model_time_s(machine.cost)) best = std::move(found);
  }
  return *std::move(best);
}

std::optional<Refusal> also_requires(const Machine& machine, const Request& request) {
  const std::uint32_t segments = request.parameters.whole("segments"), most = most_segments(machine.topology);
  if (segments <= most) return std::nullopt;
  return Refusal{Refusal::About::parameter, std::to_string(segments),
                 "matchings plans the ways of at most " + std::to_string(most) + " segments on so many nodes", std::to_string(most),
                 "segments"};
}

Bytes planning_bytes(const Machine& machine) {
  const Bytes nodes = machine.topology.nodes();
  return nodes * most_segments(machine.topology) * 4 * (sizeof(RoundSearch::Delivery) + sizeof(Schedule::Send)) +
         nodes * static_cast<Bytes>(machine.topology.max_ports()) * 64;
}

constexpr std::array parameters{parameter::segments};
constexpr std::array terms{Term{"T", "steps that the search finds"}, Term{"K", "segments of the message"},
                           Term{"q", "ports that every node can use"}};

constexpr Algorithm broadcast{
    .name = "matchings",
    .collective = Collective::broadcast,
    .source = "this project, after Won et al., TACOS",
    .shapes = "any",
    .steps = "those that a search finds: near (K-1)/q + those of one segment, q the ports that every node can use",
    .idea = {.first =
                 "A search grows the schedule step by step: in each step a matching lets as many nodes as the ports allow receive from "
                 "a neighbour that has something new for them.",
             .then =
                 "Of several segments each channel takes the one that the fewest nodes have; of a single one, the nodes with the longest "
                 "way behind them come first.",
             .good =
                 "It needs no shape: few ports, meshes, twists and dead nodes are all alike to it, and no port is idle without need; but "
                 "every node must know the plan."},
    .terms = terms,
    .native = {.switching = Switching::packet},
    .needs = {.lives_with_holes = true, .takes_twists = true},
    .parameters = parameters,
    .also_requires = also_requires,
    .plan = plan,
    .offer = offer_from_one,
    .planning_bytes = planning_bytes,
};

}  // namespace

extern const Entries entries{broadcast};

}  // namespace torus::broadcast::matchings
