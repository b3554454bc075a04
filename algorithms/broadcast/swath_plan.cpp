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

/// The layout with the least model time: of those with the h of the request, or of those that leave no block without a byte.
SwathSchedule choose(const Machine& machine, const Request& request, Ways ways) {
  const std::uint32_t h = request.parameters.whole("h");
  double least = std::numeric_limits<double>::infinity();
  std::optional<SwathSchedule> best;
  for (const SwathLayout& layout : swath_layouts(machine, ways)) {
    if (h > 0 ? layout.pieces != h : layout.pieces > 1 && layout.pieces * layout.parts > request.bytes) continue;
    SwathSchedule schedule(machine.topology, layout, request.sources.front());
    if (h == 0 && layout.pieces > 1 && schedule.segments() > request.bytes) continue;
    const SwathSchedule::Cost cost = schedule.cost(request.bytes);
    const double time = machine.cost.steps(schedule.steps(), static_cast<double>(cost.channel_bytes), static_cast<double>(cost.route_hops));
    if (best && time >= least) continue;
    least = time;
    best = std::move(schedule);
  }
  return std::move(*best);
}

}  // namespace

std::vector<std::uint32_t> swath_values(const Machine& machine, Ways ways) {
  std::vector<std::uint32_t> values;
  for (const SwathLayout& layout : swath_layouts(machine, ways)) values.push_back(layout.pieces);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

Plan swath_plan(const Machine& machine, const Request& request, Ways ways, std::string_view formula) {
  struct Shared {
    SwathSchedule schedule;
    std::vector<BlockId> blocks;
  };
  const auto shared = std::make_shared<Shared>(Shared{choose(machine, request, ways), {}});
  const SwathSchedule& schedule = shared->schedule;
  const SwathSchedule::Cost cost = schedule.cost(request.bytes);
  const NodeId root = request.sources.front();
  shared->blocks.resize(schedule.segments());
  std::iota(shared->blocks.begin(), shared->blocks.end(), root * schedule.segments());
  Plan plan;
  plan.start = [shared, root](Node& self) { return swath_program(self, shared->schedule, root, shared->blocks); };
  plan.segments = schedule.segments();
  plan.steps = schedule.steps();
  plan.formula = formula;
  plan.channel_bytes = static_cast<double>(cost.channel_bytes);
  plan.route_hops = cost.route_hops;
  plan.table_bytes = schedule.table_bytes() + shared->blocks.size() * sizeof(BlockId);
  plan.notes = {{"h", std::to_string(schedule.layout().pieces)}};
  return plan;
}

std::optional<Refusal> swath_also_requires(const Machine& machine, const Request& request, Ways ways, std::string_view algorithm) {
  const Topology& topology = machine.topology;
  if (!topology.is_torus_or_mesh() && machine.ports < static_cast<int>(topology.max_ports())) {
    return Refusal{Refusal::About::ports, std::to_string(machine.ports),
                   std::string(algorithm) + " uses all channels of a complete dimension at once", std::to_string(topology.max_ports())};
  }
  const std::uint32_t h = request.parameters.whole("h");
  if (h == 0) return std::nullopt;
  const std::vector<std::uint32_t> possible = swath_values(machine, ways);
  if (std::find(possible.begin(), possible.end(), h) != possible.end()) return std::nullopt;
  const bool ring = linked_dimensions(machine.topology).size() == 1;
  return Refusal{Refusal::About::parameter, std::to_string(h),
                 ring ? "on a ring " + std::string(algorithm) + " splits the message into 1 piece, or into one a node"
                      : std::string(algorithm) + " on " + machine.topology.text() + " has no schedule for so many pieces",
                 std::to_string(*(std::upper_bound(possible.begin(), possible.end(), h) - 1)), "h"};
}

}  // namespace torus::broadcast
