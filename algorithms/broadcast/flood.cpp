// SPDX-License-Identifier: MIT
#include "algorithms/broadcast/flood.hpp"

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

std::optional<std::string> refuses(const Machine& machine, const Request&) {
  if (machine.all_port()) return std::nullopt;
  return "flood sends over all channels at once: --ports " + std::to_string(machine.ports) + " is too few, --ports " +
         std::to_string(machine.topology.max_ports()) + " would do";
}

Plan plan(const Machine& machine, const Request& request) {
  Plan plan;
  plan.steps = static_cast<std::uint64_t>(machine.topology.eccentricity(request.sources.front()));
  plan.start = [steps = static_cast<Step>(plan.steps)](Node& self) { return flood_program(self, steps); };
  plan.formula = "eccentricity of the root";
  plan.channel_bytes = static_cast<double>(plan.steps) * static_cast<double>(request.bytes);
  return plan;
}

}  // namespace

Program flood_program(Node& self, Step steps) {
  Arrivals came;
  if (self.blocks().empty()) came = co_await self.arrival();
  if (self.now() < steps) pass_on(self, came);
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
