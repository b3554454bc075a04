// SPDX-License-Identifier: MIT
#include "algorithms/broadcast/flood.hpp"

#include "algorithms/common/refusal.hpp"

namespace torus::broadcast {
namespace {

/// Sends all blocks over every channel but those that the message came in by (each is the reverse of a channel that leaves here).
void pass_on(Node& self, const Arrivals& came) {
  const Topology& topology = self.topology();
  for (Dimension d = 0; d < topology.dimensions(); ++d) {
    const bool complete = topology.wiring(d) == Wiring::complete;
    const std::int32_t n = topology.extent(d);
    for (std::int32_t slot = 0; slot < (complete ? n - 1 : n > 1 ? 2 : 0); ++slot) {
      const std::int32_t direction = complete ? slot + 1 : (slot == 0 ? +1 : -1);
      const std::int32_t reverse = complete ? n - direction : -direction;
      bool back = false;
      for (const Message& m : came) back |= m.dimension() == d && m.direction() == reverse;
      if (!back && self.neighbour({d, direction})) self.send({{d, direction}}, self.blocks());
    }
  }
}

refusal::Refusal refuses(const Machine& machine, const Request& request) {
  return refusal::first_of(refusal::of_ports_but_all("flood", machine), refusal::of_segments("flood", request));
}

Plan plan(const Machine& machine, const Request& request) {
  Plan plan;
  plan.start = [](Node& self) { return flood_program(self); };
  plan.steps = static_cast<std::uint64_t>(machine.topology.eccentricity(request.sources.front()));
  plan.formula = "eccentricity of the root";
  plan.channel_bytes = static_cast<double>(plan.steps) * static_cast<double>(request.bytes);
  return plan;
}

}  // namespace

Program flood_program(Node& self) {
  Arrivals came;
  if (self.blocks().empty()) came = co_await self.arrival();
  pass_on(self, came);
}

const Algorithm flood{
    .name = "flood",
    .collective = Collective::broadcast,
    .source = "folklore: the fewest steps of any store-and-forward broadcast",
    .shapes = "any",
    .ports = "all",
    .steps = "eccentricity of the root",
    .native = {.switching = Switching::packet},
    .refuses = refuses,
    .plan = plan,
};

}  // namespace torus::broadcast
