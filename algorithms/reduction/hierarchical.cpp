/// Reduce-scatter and all-reduce over DDNs and DCNs: the multi-node broadcast `hierarchical`, backwards, and there and back.
///
/// The reduce-scatter is the multi-node broadcast of all nodes backwards (torus/schedule.hpp). It ends with the aggregation backwards; an
/// all-gather behind it would begin with the aggregation: the same messages to and fro. So the all-reduce leaves both out. The result of a
/// segment is made at the node of its DDN where the ring pipelines begin, and not at its owner; what is left has single legs.
/// Every node has as many segments as any other, so nothing is tuned. Every node knows the schedule: it can play the broadcast through, as
/// plan() does once for all.
/// Machine  torus of any dimension, h | every side, wormhole in any routing order, all ports, no channel shared.
/// Memory   a table of k N block numbers a node, as long as the list of the blocks that the nodes begin with.   Header  none.
/// Steps    k-D: 2(k-1) L3(h) + k floor(n/2h) + k floor(h/2) [2-D: L5(h) + L3(h) + ..]; all-reduce: twice that without the first
///          (k-1) L3(h), or L5(h). --dcn broadcast (2-D): floor(h/2) once. h = 1: rings of whole lines, k floor(n/2).
/// Source   this project, on the partition of Chen, Chen & Tseng.

#include <array>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <torus/algorithm.hpp>
#include <torus/schedule.hpp>

#include "algorithms/common/integers.hpp"
#include "algorithms/common/parameters.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/multinode_broadcast/forecast.hpp"
#include "algorithms/multinode_broadcast/hierarchical/scheme.hpp"
#include "algorithms/multinode_broadcast/partition.hpp"
#include "algorithms/reduction/played_schedule.hpp"

namespace torus::reduction::hierarchical {
namespace {

using multinode_broadcast::hierarchical::dcn_meaning;
using multinode_broadcast::hierarchical::dcn_words;
using multinode_broadcast::hierarchical::Hierarchy;
using multinode_broadcast::hierarchical::HierarchyForm;

constexpr NodeId most_nodes = 16384;  // whose table has fewer than 2^32 entries in up to 15 dimensions

std::optional<Refusal> also_requires(const Machine& machine, const Request& request) {
  if (machine.topology.nodes() > most_nodes) {
    return Refusal{Refusal::About::shape, machine.topology.text(),
                   "hierarchical has tables for machines of up to " + std::to_string(most_nodes) + " nodes", "128x128"};
  }
  if (auto why = multinode_broadcast::needs_plane(machine.topology, request)) return why;
  return multinode_broadcast::needs_divisor("hierarchical", multinode_broadcast::largest_partition(machine.topology), request);
}

bool both_ways(const Request& request) { return request.collective == Collective::allreduce; }

/// Bytes of the part that a node would own.
Bytes share_of(const Machine& machine, const Request& request) {
  const NodeId nodes = machine.topology.nodes();
  return both_ways(request) ? ceil_div<Bytes>(request.bytes, nodes) : request.bytes;
}

Step left_out(bool both, const Hierarchy& scheme) { return both && scheme.h > 1 ? static_cast<Step>(scheme.aggregation_steps()) : 0; }

/// The form of least time. h is not 1, which is what `rings` does, if there is another.
HierarchyForm choose(const Machine& machine, const Request& request) {
  const auto asked = static_cast<std::int32_t>(request.parameters.whole("h"));
  const std::string_view dcn = request.parameters.word("dcn");
  const std::int32_t largest = multinode_broadcast::largest_partition(machine.topology);
  std::vector<std::int32_t> partitions{asked != 0 ? asked : largest};
  for (const std::int32_t h : multinode_broadcast::divisors(largest)) {
    if (asked == 0 && h > 1 && h < largest) partitions.push_back(h);
  }
  std::vector<HierarchyForm> forms;
  for (const auto kind : {HierarchyForm::Dcn::scatter, HierarchyForm::Dcn::broadcast}) {
    if (dcn.empty() ? kind == HierarchyForm::Dcn::broadcast && machine.topology.dimensions() != 2
                    : dcn != dcn_words[static_cast<std::size_t>(kind)])
      continue;
    for (const std::int32_t h : partitions) forms.push_back({h, kind});
  }
  const auto time = [&](const HierarchyForm& form) -> std::optional<double> {
    const Hierarchy scheme(machine.topology, form);
    const Bytes share = share_of(machine, request);
    const double halves = both_ways(request) ? 2 : 1;
    const double bytes =
        scheme.spreading_bytes(scheme.nodes, share) + (both_ways(request) ? 0 : scheme.gathering_bytes(scheme.nodes, share));
    return machine.cost.steps(halves * (scheme.steps() - static_cast<double>(left_out(both_ways(request), scheme))), halves * bytes,
                              halves * scheme.hops_for_h());
  };
  return *cheapest(forms, time);
}

/// The multi-node broadcast of all nodes, but for the steps that are left out.
Schedule broadcast(const Machine& machine, const Hierarchy& scheme, Step begin) {
  std::vector<NodeId> all(machine.topology.nodes());
  std::iota(all.begin(), all.end(), NodeId{0});
  const Placement placement = Placement::replicated(machine.topology, all, 0, std::max(1U, scheme.parts()));
  return gather_table(
      "hierarchical", machine, placement, [&](Node& self) { return multinode_broadcast::hierarchical::hierarchical_program(self, scheme); },
      begin);
}

/// The reduce-scatter, with both the all-reduce, whatever the length of the vector. routing: in which the broadcast is rehearsed.
Schedule schedule_of(const Topology& topology, const std::vector<Dimension>& routing, const HierarchyForm& form, bool both) {
  const Machine machine(topology, all_ports, Switching::wormhole, Contention::forbid, routing);
  const Hierarchy scheme(machine.topology, form);
  Schedule down = broadcast(machine, scheme, left_out(both, scheme));
  Schedule schedule = down.backwards(topology);
  schedule.name_phase("reduce-scatter");
  down.name_phase("all-gather");
  if (both) schedule.merge(down, schedule.steps());
  return schedule;
}

Plan plan(const Machine& machine, const Request& request, PlanCache& cache) {
  const bool both = both_ways(request);
  const HierarchyForm form = choose(machine, request);
  const Hierarchy scheme(machine.topology, form);
  // Aggregation has routes of two legs, which run backwards in the opposite order of dimensions.
  const std::vector<Dimension> routing = both ? machine.routing : Schedule::mirrored(machine).routing;
  const auto schedule = cache.of<schedule_of>(machine.topology, routing, form, both);

  Plan plan;
  plan.segments = std::max(1U, scheme.parts()) * (both ? machine.topology.nodes() : 1);
  plan.formula = scheme.h == 1                        ? "k floor(n/2)"
                 : both                               ? "(k-1) L3(h) + k floor(n/2h) + k floor(h/2)"
                 : machine.topology.dimensions() == 2 ? "L5(h) + L3(h) + 2 floor(n/2h) + 2 floor(h/2)"
                                                      : "2 (k-1) L3(h) + k floor(n/2h) + k floor(h/2)";
  if (scheme.dcn == Hierarchy::Dcn::broadcast && scheme.h > 1)
    plan.formula = both ? "L3(h) + 2 floor(n/2h) + floor(h/2)" : "L5(h) + L3(h) + 2 floor(n/2h) + floor(h/2)";
  if (both) plan.formula = "2 (" + plan.formula + ")";
  play(plan, machine, request, schedule);
  plan.notes = {{"h", std::to_string(scheme.h)}, {"dcn", std::string(dcn_words[static_cast<std::size_t>(scheme.dcn)])}};
  return plan;
}

Bytes planning_bytes(const Machine& machine) { return backwards_bytes(machine, static_cast<Bytes>(machine.topology.dimensions())); }

constexpr std::array parameters{Parameter{"h", multinode_broadcast::partition_meaning, {}, multinode_broadcast::possible_partitions},
                                Parameter{"dcn", dcn_meaning, dcn_words}};
constexpr std::array former_names{FormerName{"hierarchical-log", "--dcn broadcast"}};

constexpr std::array terms{Term{"n", "extent of the longest side"},
                           Term{"h", "width of the partition: every h-th node of a line is in the same coarse torus"}};

constexpr Algorithm entry(Collective collective, std::string_view steps, const Idea& idea) {
  return {.name = "hierarchical",
          .collective = collective,
          .source = "ours, on the partition of Chen, Chen & Tseng: backwards; the DCNs by scatter and all-gather, or by broadcast",
          .shapes = "torus of any dimension, any h that divides every side; one ring: h = 1",
          .steps = steps,
          .idea = idea,
          .terms = terms,
          .needs = {.shape = Requirements::Shape::torus, .switching = Switching::wormhole, .ports = Requirements::all_ports},
          .parameters = parameters,
          .also_requires = also_requires,
          .plan = plan,
          .planning_bytes = planning_bytes,
          .former_names = former_names};
}

constexpr Algorithm reduce_scatter = entry(
    Collective::reduce_scatter,
    "2-D: L5(h) + L3(h) + 2 floor(n/2h) + 2 floor(h/2), by broadcast floor(h/2), n the longest side; k-D: 2(k-1) L3(h) + k "
    "floor(n/2h) + k floor(h/2)",
    {.first = "It is the multi-node broadcast of this name, backwards: each small block of nodes adds up its vectors first, each sum at "
              "the node of a coarse torus that leads to its owner.",
     .then = "The sums go round the rings of all coarse tori, every h-th node of a line, and at last from there to the owners near by.",
     .good = "The coarse rings are h times shorter and use all links together, so that h trades steps for bytes."});
constexpr Algorithm allreduce = entry(
    Collective::allreduce,
    "2 ((k-1) L3(h) + k floor(n/2h) + k floor(h/2)), 2-D by broadcast 1 for the last k, n the longest "
    "side; h = 1: 2 k floor(n/2)",
    {.first = "Each small block of nodes adds up its vectors, each segment at one of its nodes, and the sums go round the rings of coarse "
              "tori, every h-th node of a line, until each segment is complete somewhere.",
     .then = "The same steps run backwards and bring the results to all; the steps in the middle, which would go to and fro, are left "
             "out.",
     .good = "All links work together on rings that are h times shorter, so that h finds the middle between few steps and few bytes."});

}  // namespace

extern const Entries entries{reduce_scatter, allreduce};

}  // namespace torus::reduction::hierarchical
