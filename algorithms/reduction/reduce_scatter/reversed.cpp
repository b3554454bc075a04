/// Reduce-scatter: a multi-node broadcast of few steps, backwards.
///
/// The multi-node broadcast of all nodes backwards (torus/schedule.hpp): a node gives the partials of an owner to the node from which it
/// would get that owner's block, and combines what meets. Every node knows the schedule: it can play the broadcast through, as plan() does
/// once for all.
/// Machine  that of the broadcast, with the routing order backwards: wormhole, all ports, no channel shared.
/// Memory   a table of N - 1 block numbers a node and piece.   Header  none.
/// Steps    those of the broadcast.   Bytes  counted from the table: those of the broadcast.
/// Choice   `along` names the broadcast. Default: that of least model time, hops aside, among those that apply.
/// Source   the broadcasts'; that a reduction is a broadcast backwards is folklore.

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <torus/algorithm.hpp>
#include <torus/catalogue.hpp>
#include <torus/schedule.hpp>

#include "algorithms/common/parameters.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/reduction/played_schedule.hpp"

namespace torus::reduction::reversed {
namespace {

constexpr std::array<std::string_view, 2> broadcasts{"hyperplane", "log"};
constexpr std::array parameters{Parameter{"along", "multi-node broadcast that a reduce-scatter runs backwards", broadcasts}};
constexpr NodeId most_nodes = 1024;  // planned in about a second

const Algorithm& broadcast_called(std::string_view name) { return *find_algorithm(Collective::multinode_broadcast, name); }

/// Without its sources.
Request broadcast_of(const Request& request) {
  Request out;
  out.collective = Collective::multinode_broadcast;
  out.bytes = request.bytes;
  return out;
}
/// The same with all nodes as its sources.
Request broadcast_of(const Machine& machine, const Request& request) {
  Request out = broadcast_of(request);
  out.sources.resize(machine.topology.nodes());
  std::iota(out.sources.begin(), out.sources.end(), NodeId{0});
  return out;
}

/// Their rules name no sources, which would be all nodes of any machine.
std::optional<Refusal> refuses_along(std::string_view name, const Machine& machine, const Request& request) {
  return unmirrored(refuses(broadcast_called(name), Schedule::mirrored(machine), broadcast_of(request)));
}

std::optional<Refusal> also_requires(const Machine& machine, const Request& request) {
  if (const auto along = request.parameters.word("along"); !along.empty()) return refuses_along(along, machine, request);
  if (std::ranges::any_of(broadcasts, [&](std::string_view name) { return !refuses_along(name, machine, request); })) return std::nullopt;
  return refuses_along(broadcasts.front(), machine, request);
}

std::string_view chosen(const Machine& machine, const Request& request, PlanCache& cache) {
  if (const auto along = request.parameters.word("along"); !along.empty()) return along;
  const auto time = [&](std::string_view name) -> std::optional<double> {
    if (refuses_along(name, machine, request)) return std::nullopt;
    return broadcast_called(name).plan(Schedule::mirrored(machine), broadcast_of(machine, request), cache).model_time_s(machine.cost);
  };
  return *cheapest(broadcasts, time);
}

Plan plan(const Machine& machine, const Request& request, PlanCache& cache) {
  const std::string_view along = chosen(machine, request, cache);
  const Machine mirror = Schedule::mirrored(machine);
  const Request forth = broadcast_of(machine, request);
  const Plan broadcast = broadcast_called(along).plan(mirror, forth, cache);
  const Placement placement = placement_of(mirror, forth, broadcast);
  auto back = std::make_shared<Schedule>(gather_table(along, mirror, placement, broadcast.start).backwards(machine.topology));
  back->name_phase("reduce-scatter");
  Plan plan;
  plan.segments = broadcast.segments;
  plan.formula = broadcast.formula;
  play(plan, machine, request, std::move(back));
  plan.notes = {{"along", std::string(along)}};
  return plan;
}

/// A schedule of three pieces a dimension at most.
Bytes planning_bytes(const Machine& machine) { return backwards_bytes(machine, 3 * static_cast<Bytes>(machine.topology.dimensions())); }

constexpr std::array terms{Term{"b", "base of the gather: 3 or 2k+1"}};

constexpr Algorithm reduce_scatter{
    .name = "reversed",
    .collective = Collective::reduce_scatter,
    .source = "the multi-node broadcasts'",
    .shapes = "those of the multi-node broadcast",
    .steps = "as many as the multi-node broadcast takes",
    .idea = {.first = "A multi-node broadcast of few steps runs backwards: each message goes the other way, and the last one goes first.",
             .then = "Every node adds what it gets to its own, and each step is the mirror of one of the broadcast, until each owner has "
                     "its block.",
             .good = "A reduce-scatter so takes the steps and bytes of the best multi-node broadcast: few steps, which suit short blocks."},
    .terms = terms,
    .needs = {.shape = Requirements::Shape::torus, .switching = Switching::wormhole, .ports = Requirements::all_ports},
    .parameters = parameters,
    .also_requires = also_requires,
    .plan = plan,
    .offer = [](const Machine& machine, const Request&) { return Offer{.slow = machine.topology.nodes() > most_nodes}; },
    .planning_bytes = planning_bytes};

}  // namespace

extern const Entries entries{reduce_scatter};

}  // namespace torus::reduction::reversed
