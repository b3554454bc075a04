#include "algorithms/reduction/flood_barrier.hpp"

namespace torus::reduction {
namespace {

void tell(Node& self, Leg leg) {
  if (self.neighbour(leg)) self.send({leg}, {});
}

void tell_all(Node& self) {
  for (Dimension d = 0; d < self.dimensions(); ++d) {
    const std::int32_t n = self.extent(d);
    if (self.topology().wiring(d) == Wiring::complete) {
      for (std::int32_t offset = 1; offset < n; ++offset) tell(self, {d, offset});
    } else if (n > 1) {
      tell(self, {d, +1});
      if (n > 2 || self.topology().wiring(d) == Wiring::line) tell(self, {d, -1});  // in a ring of two one message does
    }
  }
}

Program program(Node& self, Step diameter) {
  for (Step step = 0; step < diameter; ++step) {
    tell_all(self);
    co_await self.step();
  }
}

Plan plan(const Machine& machine, const Request&) {
  const auto diameter = static_cast<Step>(machine.topology.diameter());
  Plan plan;
  plan.start = [diameter](Node& self) { return program(self, diameter); };
  plan.steps = diameter;
  plan.route_hops = plan.steps;
  plan.formula = "diameter";
  return plan;
}

}  // namespace

const Algorithm flood_barrier{
    .name = "flood",
    .collective = Collective::barrier,
    .source = "folklore: the fewest steps of any store-and-forward barrier",
    .shapes = "any",
    .steps = "diameter",
    .native = {.switching = Switching::packet},
    .needs = {.ports = Requirements::all_ports},
    .plan = plan,
};

}  // namespace torus::reduction
