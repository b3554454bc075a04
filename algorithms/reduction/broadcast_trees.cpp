// One file, a third of it the list of the 14 broadcasts that it turns round.
#include "algorithms/reduction/broadcast_trees.hpp"

#include <memory>
#include <string>
#include <utility>

#include "algorithms/broadcast/dimension_wise.hpp"
#include "algorithms/broadcast/mst.hpp"
#include "algorithms/broadcast/park_choi.hpp"
#include "algorithms/broadcast/peters_syska.hpp"
#include "algorithms/broadcast/rs_bcast.hpp"
#include "algorithms/broadcast/separate_dimensions.hpp"
#include "algorithms/broadcast/span.hpp"
#include "algorithms/broadcast/squeeze_expand.hpp"
#include "algorithms/broadcast/synthesized.hpp"
#include "algorithms/broadcast/tsai_mckinley.hpp"
#include "algorithms/broadcast/wang_tseng.hpp"
#include "algorithms/reduction/route_loads.hpp"
#include "algorithms/reduction/transfers.hpp"

namespace torus::reduction {
namespace {

bool goes_up(Collective collective) { return collective != Collective::scatter; }
bool goes_down(Collective collective) { return collective == Collective::allreduce || collective == Collective::scatter; }

/// Of an all-reduce: the middle of the lines.
NodeId root_of(const Machine& machine, const Request& request) {
  if (request.collective != Collective::allreduce) return request.sources.front();
  const Topology& topology = machine.topology;
  Coordinates middle(static_cast<std::size_t>(topology.dimensions()), 0);
  for (Dimension d = 0; d < topology.dimensions(); ++d) {
    if (topology.wiring(d) == Wiring::line) middle[static_cast<std::size_t>(d)] = (topology.extent(d) - 1) / 2;
  }
  return topology.rank(middle);
}

Request broadcast_of(const Machine& machine, const Request& request) {
  Request out;
  out.sources = {root_of(machine, request)};
  out.bytes = request.bytes;
  out.parameters = request.parameters;
  return out;
}

std::optional<Refusal> refuses_tree(const Algorithm& broadcast, const Machine& machine, const Request& request) {
  if (const std::size_t dead = machine.topology.faults().dead_nodes.size(); dead > 0) {
    return Refusal{Refusal::About::faults, std::to_string(dead) + " dead node" + (dead == 1 ? "" : "s"),
                   "the tree of a reduction needs every node alive", "dead links alone"};
  }
  const auto refuses_on = [&](const Machine& m) {
    return broadcast.also_requires != nullptr ? broadcast.also_requires(m, broadcast_of(m, request)) : std::nullopt;
  };
  if (goes_down(request.collective)) {
    if (auto why = refuses_on(machine)) return why;
  }
  if (!goes_up(request.collective)) return std::nullopt;
  auto why = refuses_on(Transfers::mirrored(machine));
  if (why && goes_down(request.collective)) why->fix.clear();  // what would do one way need not do the other
  return why;
}

/// The broadcast of a block 0, or the scatter.
Transfers tree(const Plan& broadcast, const Machine& machine, const Request& request) {
  const Placement placement = placement_of(machine, broadcast_of(machine, request), broadcast);
  const Transfers table(Rehearsal(machine, placement, broadcast.start), placement);
  return has_root(request.collective) && !reduces(request.collective) ? table.bundled(machine.topology.nodes())
                                                                      : table.numbered_from(root_of(machine, request));
}

Program program(Node& self, const std::pair<Transfers, Transfers>& tables, Collective collective) {
  const auto& [up, down] = tables;
  const bool combines = reduces(collective);
  if (goes_up(collective)) co_await follow(self, up, combines ? Manner::combine : Manner::give, 0, combines ? "reduce" : "gather");
  if (goes_down(collective))
    co_await follow(self, down, combines ? Manner::copy : Manner::give, combines ? up.steps() : 0, combines ? "broadcast" : "scatter");
}

Plan plan_tree(const Algorithm& broadcast, const Machine& machine, const Request& request) {
  const Collective collective = request.collective;
  const Topology& topology = machine.topology;
  const auto planned_for = [&](const Machine& m) { return broadcast.plan(m, broadcast_of(m, request)); };
  const Machine first = goes_up(collective) ? Transfers::mirrored(machine) : machine;
  const Plan planned = planned_for(first);
  Transfers up = tree(planned, first, request);
  const bool turned = goes_up(collective) && goes_down(collective) && first.routing != machine.routing;
  Transfers down = turned ? tree(planned_for(machine), machine, request) : up;
  up = up.backwards(topology);
  const auto tables = std::make_shared<const std::pair<Transfers, Transfers>>(std::move(up), std::move(down));

  Plan plan;
  plan.start = [tables, collective](Node& self) { return program(self, *tables, collective); };
  plan.formula = collective == Collective::allreduce ? "2 (" + planned.formula + ")" : planned.formula;
  plan.route_hops = 0;
  plan.table_bytes = tables->first.table_bytes() + tables->second.table_bytes();
  const Placement placement = placement_of(machine, request, plan);
  const auto add = [&](const Transfers& table, bool combines) {
    const Transfers::Load load = table.load(topology, placement);
    plan.steps += table.steps();
    plan.channel_bytes += load.channel;
    plan.combined_bytes += combines ? load.received : 0;
    *plan.route_hops += load.hops;
  };
  if (goes_up(collective)) add(tables->first, reduces(collective));
  if (goes_down(collective)) add(tables->second, false);
  if (collective == Collective::allreduce) plan.notes = {{"root", std::to_string(root_of(machine, request))}};
  return plan;
}

template <const Algorithm& broadcast>
BroadcastTrees trees_of(std::string_view name) {
  const auto along = [&](Collective collective) {
    return Algorithm{
        .name = name,
        .collective = collective,
        .source = broadcast.source,
        .shapes = broadcast.shapes,
        .steps = collective == Collective::allreduce ? "twice as many as the broadcast takes" : "as many as the broadcast takes",
        .native = broadcast.native,
        .needs = broadcast.needs,
        .parameters = broadcast.parameters,
        .also_requires = [](const Machine& machine, const Request& request) { return refuses_tree(broadcast, machine, request); },
        .plan = [](const Machine& machine, const Request& request) { return plan_tree(broadcast, machine, request); },
        .planning_bytes =
            [](const Machine& machine) {
              constexpr Bytes line = 6 * (sizeof(Transfers::Send) + 2 * sizeof(Leg));
              return Rehearsal::bytes_for(machine) + line * machine.topology.nodes() + RouteLoads::bytes(machine.topology) +
                     (broadcast.planning_bytes != nullptr ? broadcast.planning_bytes(machine) : 0);
            },
    };
  };
  return {along(Collective::reduce), along(Collective::allreduce), along(Collective::scatter), along(Collective::gather)};
}

}  // namespace

const BroadcastTrees tree_dimension_wise = trees_of<broadcast::dimension_wise>("tree-dimension-wise");
const BroadcastTrees tree_wang_tseng = trees_of<broadcast::wang_tseng>("tree-wang-tseng");
const BroadcastTrees tree_wang_tseng_trimmed = trees_of<broadcast::wang_tseng_trimmed>("tree-wang-tseng-trimmed");
const BroadcastTrees tree_tsai_mckinley = trees_of<broadcast::tsai_mckinley>("tree-tsai-mckinley");
const BroadcastTrees tree_mst = trees_of<broadcast::mst>("tree-mst");
const BroadcastTrees tree_separate_dimensions = trees_of<broadcast::separate_dimensions>("tree-separate-dimensions");
const BroadcastTrees tree_rs_bcast = trees_of<broadcast::rs_bcast>("tree-rs-bcast");
const BroadcastTrees tree_span = trees_of<broadcast::span>("tree-span");
const BroadcastTrees tree_squeeze_expand = trees_of<broadcast::squeeze_expand>("tree-squeeze-expand");
const BroadcastTrees tree_two_line = trees_of<broadcast::two_line>("tree-two-line");
const BroadcastTrees tree_pairs = trees_of<broadcast::pairs>("tree-pairs");
const BroadcastTrees tree_peters_syska = trees_of<broadcast::peters_syska>("tree-peters-syska");
const BroadcastTrees tree_park_choi = trees_of<broadcast::park_choi>("tree-park-choi");
const BroadcastTrees tree_synthesized = trees_of<broadcast::synthesized>("tree-synthesized");

}  // namespace torus::reduction
