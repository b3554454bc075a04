#include "algorithms/reduction/hierarchical.hpp"

#include <array>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

#include <torus/error.hpp>

#include "algorithms/common/integers.hpp"
#include "algorithms/multinode_broadcast/hierarchical.hpp"
#include "algorithms/multinode_broadcast/partition.hpp"
#include "algorithms/reduction/route_loads.hpp"
#include "algorithms/reduction/transfers.hpp"

namespace torus::reduction {
namespace {

using multinode::Hierarchy;

constexpr NodeId most_nodes = 16384;  // whose table has fewer than 2^32 entries in up to 15 dimensions

std::optional<Refusal> also_requires(const Machine& machine, const Request& request) {
  if (machine.topology.nodes() > most_nodes) {
    return Refusal{Refusal::About::shape, machine.topology.text(),
                   "hierarchical has tables for machines of up to " + std::to_string(most_nodes) + " nodes", "128x128"};
  }
  return multinode::needs_divisor("hierarchical", multinode::largest_partition(machine.topology), request);
}

bool both_ways(const Request& request) { return request.collective == Collective::allreduce; }

/// Bytes of the part that a node would own.
Bytes share_of(const Machine& machine, const Request& request) {
  const NodeId nodes = machine.topology.nodes();
  return both_ways(request) ? ceil_div<Bytes>(request.bytes, nodes) : request.bytes;
}

Step left_out(const Request& request, const Hierarchy& scheme) {
  return both_ways(request) && scheme.h > 1 ? static_cast<Step>(scheme.aggregation_steps()) : 0;
}

/// The h of least time; not 1, which is what `rings` does, if there is another.
Hierarchy choose(const Machine& machine, const Request& request, Hierarchy::Dcn dcn) {
  const auto with = [&](std::int32_t h) { return Hierarchy(machine.topology, h, dcn, Hierarchy::Balance::none); };
  const auto time = [&](const Hierarchy& scheme) {
    const Bytes share = share_of(machine, request);
    const double halves = both_ways(request) ? 2 : 1;
    const double bytes =
        scheme.spreading_bytes(scheme.nodes, share) + (both_ways(request) ? 0 : scheme.gathering_bytes(scheme.nodes, share));
    return machine.cost.steps(halves * (scheme.steps() - static_cast<double>(left_out(request, scheme))), halves * bytes,
                              halves * scheme.hops_for_h());
  };
  if (request.parameters.whole("h") != 0) return with(static_cast<std::int32_t>(request.parameters.whole("h")));
  std::int32_t best = multinode::largest_partition(machine.topology);
  for (const std::int32_t h : multinode::divisors(best)) {
    if (h > 1 && time(with(h)) < time(with(best))) best = h;
  }
  return with(best);
}

/// The multi-node broadcast of all nodes, but for the steps that are left out.
Transfers broadcast(const Machine& machine, const Hierarchy& scheme, Step begin) {
  std::vector<NodeId> all(machine.topology.nodes());
  std::iota(all.begin(), all.end(), NodeId{0});
  const Placement placement = Placement::replicated(machine.topology, all, 0, std::max(1U, scheme.parts()));
  const Rehearsal rehearsal(machine, placement, [&](Node& self) { return multinode::hierarchical_program(self, scheme); });
  Transfers table(rehearsal, placement, begin);
  if (table.arrivals() != placement.wanted_total() - placement.initial_total()) throw RunError("hierarchical does not reach every node");
  return table;
}

Program program(Node& self, const std::pair<Transfers, Transfers>& tables, bool both) {
  co_await follow(self, tables.first, Manner::combine, 0, "reduce-scatter");
  if (both) co_await follow(self, tables.second, Manner::copy, tables.first.steps(), "all-gather");
}

Plan plan_any(const Machine& machine, const Request& request, Hierarchy::Dcn dcn) {
  const bool both = both_ways(request);
  const Hierarchy scheme = choose(machine, request, dcn);
  // Aggregation has routes of two legs, which run backwards in the opposite order of dimensions.
  Transfers down = broadcast(both ? machine : Transfers::mirrored(machine), scheme, left_out(request, scheme));
  Transfers up = down.backwards(machine.topology);
  const auto tables = std::make_shared<const std::pair<Transfers, Transfers>>(std::move(up), std::move(down));

  Plan plan;
  plan.segments = std::max(1U, scheme.parts()) * (both ? machine.topology.nodes() : 1);
  plan.start = [tables, both](Node& self) { return program(self, *tables, both); };
  plan.steps = std::uint64_t{both ? 2U : 1U} * tables->first.steps();
  plan.formula = scheme.h == 1                        ? "k floor(n/2)"
                 : both                               ? "(k-1) L3(h) + k floor(n/2h) + k floor(h/2)"
                 : machine.topology.dimensions() == 2 ? "L5(h) + L3(h) + 2 floor(n/2h) + 2 floor(h/2)"
                                                      : "2 (k-1) L3(h) + k floor(n/2h) + k floor(h/2)";
  if (dcn == Hierarchy::Dcn::log && scheme.h > 1)
    plan.formula = both ? "L3(h) + 2 floor(n/2h) + floor(h/2)" : "L5(h) + L3(h) + 2 floor(n/2h) + floor(h/2)";
  if (both) plan.formula = "2 (" + plan.formula + ")";
  const Placement placement = placement_of(machine, request, plan);
  const Transfers::Load back = tables->first.load(machine.topology, placement);
  const Transfers::Load forth = both ? tables->second.load(machine.topology, placement) : Transfers::Load{};
  plan.channel_bytes = back.channel + forth.channel;
  plan.combined_bytes = back.received;
  plan.route_hops = back.hops + forth.hops;
  plan.table_bytes = tables->first.table_bytes() + tables->second.table_bytes();
  plan.notes = {{"h", std::to_string(scheme.h)}};
  return plan;
}

Plan plan_scatter(const Machine& machine, const Request& request) { return plan_any(machine, request, Hierarchy::Dcn::scatter); }
Plan plan_log(const Machine& machine, const Request& request) { return plan_any(machine, request, Hierarchy::Dcn::log); }

/// A rehearsal, its first ways, and these backwards: a block number each a node and block.
Bytes planning_bytes(const Machine& machine) {
  const Bytes nodes = machine.topology.nodes(), numbers = nodes * nodes * static_cast<Bytes>(machine.topology.dimensions());
  return numbers * (5 * sizeof(BlockId)) + Rehearsal::bytes_for(machine) + RouteLoads::bytes(machine.topology);
}

constexpr std::array parameters{Parameter{"h", multinode::partition_meaning, {}, multinode::possible_partitions}};

constexpr Algorithm entry(std::string_view name, Collective collective, bool log, std::string_view steps) {
  return {
      .name = name,
      .collective = collective,
      .source = log ? "ours, on the partition of Chen, Chen & Tseng: backwards; the DCNs by broadcast and one pass of the rings"
                    : "ours, on the partition of Chen, Chen & Tseng: backwards; the DCNs by scatter and all-gather",
      .shapes = log ? "2-D torus, any h that divides both sides" : "torus of any dimension, any h that divides every side; one ring: h = 1",
      .steps = steps,
      .needs = {.shape = Requirements::Shape::torus,
                .dimensions = log ? 2 : 0,
                .switching = Switching::wormhole,
                .ports = Requirements::all_ports},
      .parameters = parameters,
      .also_requires = also_requires,
      .plan = log ? plan_log : plan_scatter,
      .planning_bytes = planning_bytes};
}

}  // namespace

const Algorithm hierarchical_reduce_scatter =
    entry("hierarchical", Collective::reduce_scatter, false,
          "2-D: L5(h) + L3(h) + 2 floor(n/2h) + 2 floor(h/2), n the longest side; k-D: 2(k-1) L3(h) + k floor(n/2h) + k floor(h/2)");
const Algorithm hierarchical_allreduce = entry("hierarchical", Collective::allreduce, false,
                                               "2 ((k-1) L3(h) + k floor(n/2h) + k floor(h/2)), n the longest side; h = 1: 2 k floor(n/2)");
const Algorithm hierarchical_log_reduce_scatter =
    entry("hierarchical-log", Collective::reduce_scatter, true, "L5(h) + L3(h) + 2 floor(n/2h) + floor(h/2), n the longer side");
const Algorithm hierarchical_log_allreduce =
    entry("hierarchical-log", Collective::allreduce, true, "2 (L3(h) + 2 floor(n/2h) + floor(h/2)), n the longer side");

}  // namespace torus::reduction
