#include "algorithms/broadcast/swath_plan.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "algorithms/broadcast/swath.hpp"
#include "algorithms/common/linked_dimensions.hpp"

namespace torus::broadcast {
namespace {

/// The h of the request, or the one with the least model time among those that leave no block without a byte.
SwathSchedule choose(const Machine& machine, const Request& request) {
  const auto h = static_cast<std::int32_t>(request.parameters.whole("h"));
  if (h > 0) return {machine.topology, h};
  double least = std::numeric_limits<double>::infinity();
  std::int32_t best = 1;
  for (const std::uint32_t candidate : possible_swaths(machine)) {
    const SwathSchedule schedule(machine.topology, static_cast<std::int32_t>(candidate));
    if (candidate > 1 && schedule.segments() > request.bytes) continue;
    const SwathSchedule::Cost cost = schedule.cost(request.bytes);
    const double time = machine.cost.steps(schedule.steps(), static_cast<double>(cost.channel_bytes), static_cast<double>(cost.route_hops));
    if (time >= least) continue;
    least = time;
    best = schedule.h();
  }
  return {machine.topology, best};
}

}  // namespace

Plan swath_plan(const Machine& machine, const Request& request) {
  struct Shared {
    SwathSchedule schedule;
    std::vector<BlockId> blocks;
  };
  const auto shared = std::make_shared<Shared>(Shared{choose(machine, request), {}});
  const SwathSchedule& schedule = shared->schedule;
  const SwathSchedule::Cost cost = schedule.cost(request.bytes);
  const NodeId root = request.sources.front();
  shared->blocks.resize(schedule.segments());
  std::iota(shared->blocks.begin(), shared->blocks.end(), root * schedule.segments());
  Plan plan;
  plan.start = [shared, root](Node& self) { return swath_program(self, shared->schedule, root, shared->blocks); };
  plan.segments = schedule.segments();
  plan.steps = schedule.steps();
  plan.formula = swath.steps;
  plan.channel_bytes = static_cast<double>(cost.channel_bytes);
  plan.route_hops = cost.route_hops;
  plan.table_bytes = schedule.table_bytes() + shared->blocks.size() * sizeof(BlockId);
  plan.notes = {{"h", std::to_string(schedule.h())}};
  return plan;
}

std::optional<Refusal> swath_also_requires(const Machine& machine, const Request& request) {
  const std::vector<std::uint32_t> possible = possible_swaths(machine);
  const std::uint32_t h = request.parameters.whole("h");
  if (h == 0 || std::find(possible.begin(), possible.end(), h) != possible.end()) return std::nullopt;
  const bool ring = linked_dimensions(machine.topology).size() == 1;
  return Refusal{Refusal::About::parameter, std::to_string(h),
                 ring ? "on a ring swath splits the message into 1 piece, or into one a node"
                      : "swath has no more pieces than the shortest ring has nodes, and no more blocks than a run holds",
                 std::to_string(*(std::upper_bound(possible.begin(), possible.end(), h) - 1)), "h"};
}

}  // namespace torus::broadcast
