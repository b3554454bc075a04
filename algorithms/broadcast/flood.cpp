#include "algorithms/broadcast/flood.hpp"

#include <array>

#include "algorithms/broadcast/segment_count.hpp"
#include "algorithms/broadcast/whole_message.hpp"
#include "algorithms/common/parameters.hpp"

namespace torus::broadcast {
namespace {

/// Sends a block over all channels but those that it arrived by (each is the reverse of a channel that leaves here).
void pass_on(Node& self, BlockId block, const Arrivals& came) {
  self.topology().each_link(self.rank(), [&](Dimension d, std::int32_t direction, NodeId) {
    const std::int32_t reverse = self.topology().reverse(d, direction);
    bool back = false;
    for (const Message& m : came) back |= m.dimension() == d && m.direction() == reverse && m.blocks()[0] == block;
    if (!back) self.send({{d, direction}}, {&block, 1});
  });
}

Plan plan_whole(const Machine& machine, const Request& request) {
  const auto eccentricity = static_cast<Step>(machine.topology.eccentricity(request.sources.front()));
  Plan plan =
      whole_message_plan(request, eccentricity, flood.steps, [eccentricity](Node& self) { return flood_program(self, eccentricity, 1); });
  plan.route_hops = plan.steps;
  return plan;
}

Plan plan_pipelined(const Machine& machine, const Request& request) {
  const auto eccentricity = static_cast<Step>(machine.topology.eccentricity(request.sources.front()));
  Plan plan = segmented_plan(
      machine, request, std::int64_t{eccentricity} - 1, 1,
      [&](std::uint32_t k) { return eccentricity == 0 ? 0 : std::uint64_t{eccentricity} + k - 1; },
      [&](std::uint32_t k) {
        // Every segment is the oldest on its way in one step, but the first for as many steps as it has hops.
        return eccentricity == 0 ? 0 : request.bytes + (eccentricity - 1) * bytes_of_segments(request.bytes, k, 0, 1);
      });
  plan.start = [eccentricity, k = plan.segments](Node& self) { return flood_program(self, eccentricity, k); };
  plan.formula = "eccentricity of the root + K-1";
  plan.route_hops = plan.steps;
  return plan;
}

constexpr std::array parameters{parameter::segments};

}  // namespace

Program flood_program(Node& self, Step eccentricity, std::uint32_t segments) {
  Arrivals came;
  BlockId block = 0;
  if (self.blocks().empty()) {
    came = co_await self.arrival();
    block = came.front().blocks()[0];
  } else {
    block = self.blocks().front();
  }
  if (self.now() >= eccentricity) co_return;
  for (std::uint32_t passed = 1;; ++passed, ++block) {  // the ids of a message's segments are consecutive
    pass_on(self, block, came);
    if (passed == segments) co_return;
    came = co_await self.step();
  }
}

const Algorithm flood{
    .name = "flood",
    .collective = Collective::broadcast,
    .source = "folklore: the fewest steps of any store-and-forward broadcast",
    .shapes = "any",
    .steps = "eccentricity of the root",
    .native = {.switching = Switching::packet},
    .needs = {.ports = Requirements::all_ports, .lives_with_holes = true, .takes_twists = true},
    .plan = plan_whole,
};

const Algorithm flood_pipelined{
    .name = "flood-pipelined",
    .collective = Collective::broadcast,
    .source = "folklore: flooding, the message split into segments",
    .shapes = "any",
    .steps = "eccentricity of the root + K-1, K segments",
    .native = {.switching = Switching::packet},
    .needs = {.ports = Requirements::all_ports, .lives_with_holes = true, .takes_twists = true},
    .parameters = parameters,
    .plan = plan_pipelined,
};

}  // namespace torus::broadcast
