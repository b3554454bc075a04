/// A plan that plays a schedule once, and the schedule of a multi-node broadcast that runs backwards.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <torus/algorithm.hpp>
#include <torus/error.hpp>
#include <torus/schedule.hpp>

#include "algorithms/schedule/route_loads.hpp"

namespace torus::reduction {

/// What refuses a schedule on Schedule::mirrored(machine), in terms of the machine: orders of routing are the other way round.
inline std::optional<Refusal> unmirrored(std::optional<Refusal> why) {
  const auto backwards = [](std::string& order) {
    std::string out;
    for (std::size_t from = 0; from <= order.size();) {
      const std::size_t to = std::min(order.find(',', from), order.size());
      out = order.substr(from, to - from) + (out.empty() ? "" : "," + out);
      from = to + 1;
    }
    order = std::move(out);
  };
  if (!why) return why;
  if (why->about == Refusal::About::routing) {
    backwards(why->value);
    backwards(why->fix);
    why->rule += ", and runs backwards here";
  }
  for (Refusal::Change& change : why->beside) {
    if (change.about == Refusal::About::routing) backwards(change.value);
  }
  return why;
}

/// Fills in the program and what it takes, but the formula. Plan::segments says how blocks are cut.
inline void play(Plan& plan, const Machine& machine, const Request& request, std::shared_ptr<const Schedule> schedule) {
  const Schedule::Loads loads = schedule->loads(machine.topology, placement_of(machine, request, plan));
  plan.steps = schedule->steps();
  plan.channel_bytes = loads.channel;
  plan.combined_bytes = loads.combined;
  plan.route_hops = loads.hops;
  plan.table_bytes = schedule->table_bytes();
  plan.start = [schedule = std::move(schedule)](Node& self) { return follow(self, *schedule); };
}

/// The table of a multi-node broadcast, without the steps before `begin`. Throws RunError if it leaves out a node.
inline Schedule gather_table(std::string_view name, const Machine& machine, const Placement& placement,
                             const std::function<Program(Node&)>& start, Step begin = 0) {
  Schedule table(Rehearsal(machine, placement, start), placement, begin);
  if (table.arrivals() != placement.wanted_total() - placement.initial_total())
    throw RunError(std::string(name) + " does not reach every node");
  return table;
}

/// What a rehearsal, its table and this backwards take: block numbers of each node, of `pieces` of each node's block.
inline Bytes backwards_bytes(const Machine& machine, Bytes pieces) {
  const Bytes nodes = machine.topology.nodes();
  return nodes * nodes * pieces * (5 * sizeof(BlockId)) + Rehearsal::bytes_for(machine) + RouteLoads::bytes(machine.topology);
}

}  // namespace torus::reduction
