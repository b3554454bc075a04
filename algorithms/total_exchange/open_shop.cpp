#include "algorithms/total_exchange/open_shop.hpp"

#include <algorithm>
#include <memory>

#include "algorithms/total_exchange/open_shop_schedule.hpp"
#include "algorithms/total_exchange/tabled_steps.hpp"

namespace torus::exchange {
namespace {

Program open_shop_program(Node& self, const OpenShopSchedule& schedule) {
  for (Step t = 0; t < schedule.steps(); ++t) {
    schedule.send(self, t);
    co_await self.step();
  }
}

std::optional<Refusal> also_requires(const Machine& machine, const Request&) {
  const Topology& topology = machine.topology;
  const auto long_line = [](const DimensionShape& d) { return d.wiring == Wiring::line && d.extent > 2; };
  if (std::any_of(topology.shape().begin(), topology.shape().end(), long_line)) {
    return Refusal{Refusal::About::shape, topology.text(), "open-shop needs rings, complete dimensions or lines of 2",
                   changed(topology, [&](DimensionShape& d) { d.wiring = long_line(d) ? Wiring::ring : d.wiring; }).text()};
  }
  return needs_tabled_steps("open-shop", topology, open_shop_steps);
}

Plan plan(const Machine& machine, const Request& request) {
  const auto schedule = std::make_shared<const OpenShopSchedule>(machine.topology);
  Plan plan;
  plan.start = [schedule](Node& self) { return open_shop_program(self, *schedule); };
  plan.steps = schedule->steps();
  plan.route_hops = plan.steps;
  plan.formula = "max(C4, diameter)";
  plan.channel_bytes = static_cast<double>(plan.steps) * static_cast<double>(request.bytes);
  plan.table_bytes = schedule->table_bytes();
  return plan;
}

}  // namespace

const Algorithm open_shop{
    .name = "open-shop",
    .collective = Collective::total_exchange,
    .source = "this project",
    .shapes = "any product of rings, lines of 2 and complete graphs",
    .steps = "max(C4, diameter), C4 bound (4)",
    .native = {.switching = Switching::packet},
    .needs = {.ports = Requirements::all_ports},
    .also_requires = also_requires,
    .plan = plan,
};

}  // namespace torus::exchange
