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
  const NodeId root = request.sources.front();
  const auto time_s = [&](const SwathSchedule& each, const SwathSchedule::Cost& of_it) {
    return machine.cost.steps(each.steps(), of_it.channel_bytes, static_cast<double>(of_it.route_hops));
  };
  constexpr double any_number = std::numeric_limits<double>::infinity();
  const auto shared = std::make_shared<Shared>(Shared{choose_swath(machine, request, ways, root, any_number, time_s), {}});
  const SwathSchedule& schedule = shared->schedule;
  const SwathSchedule::Cost cost = schedule.cost(request.bytes);
  shared->blocks.resize(schedule.segments());
  std::iota(shared->blocks.begin(), shared->blocks.end(), root * schedule.segments());
  Plan plan;
  plan.start = [shared, root](Node& self) { return swath_program(self, shared->schedule, root, shared->blocks); };
  plan.segments = schedule.segments();
  plan.steps = schedule.steps();
  plan.formula = formula;
  plan.channel_bytes = cost.channel_bytes;
  plan.route_hops = cost.route_hops;
  plan.table_bytes = schedule.table_bytes() + shared->blocks.size() * sizeof(BlockId);
  plan.notes = {{"h", std::to_string(schedule.layout().pieces)}};
  return plan;
}

std::optional<Refusal> swath_also_requires(const Machine& machine, const Request& request, Ways ways, std::string_view algorithm) {
  const Topology& topology = machine.topology;
  if (!is_torus_or_mesh(topology) && machine.ports < static_cast<int>(topology.max_ports())) {
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
