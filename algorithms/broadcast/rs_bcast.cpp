#include "algorithms/broadcast/rs_bcast.hpp"

#include <memory>

#include "algorithms/broadcast/axes.hpp"
#include "algorithms/broadcast/one_port_mesh.hpp"

namespace torus::broadcast {
namespace {

refusal::Refusal refuses(const Machine& machine, const Request& request) {
  return refusal::first_of(refuses_wiring("rs-bcast", machine), refusal::of_switching("rs-bcast", machine, Switching::wormhole),
                           refusal::of_segments("rs-bcast", request));
}

Plan plan(const Machine& machine, const Request& request) {
  const auto axes = std::make_shared<const Axes>(Axes::linear_array(machine));
  Plan plan;
  plan.start = [axes, root = request.sources.front()](Node& self) { return halving_program(self, *axes, root, {}); };
  plan.steps = axes->steps();
  plan.formula = "ceil(log2 N)";
  if (machine.cost.hop_s > 0) plan.route_hops = halving_hops(machine.topology, *axes, request.sources.front());
  plan.channel_bytes = static_cast<double>(plan.steps) * static_cast<double>(request.bytes);
  return plan;
}

}  // namespace

const Algorithm rs_bcast{
    .name = "rs-bcast",
    .collective = Collective::broadcast,
    .source = "Barnett, Payne, van de Geijn & Watts, Recursive Splitting Broadcast",
    .shapes = "mesh or torus, any extents, any k",
    .ports = "one",
    .steps = "ceil(log2 N)",
    .native = one_port_wormhole,
    .refuses = refuses,
    .plan = plan,
};

}  // namespace torus::broadcast
