#include "algorithms/broadcast/separate_dimensions.hpp"

#include <memory>

#include "algorithms/broadcast/axes.hpp"
#include "algorithms/broadcast/one_port_mesh.hpp"

namespace torus::broadcast {
namespace {

refusal::Refusal refuses(const Machine& machine, const Request& request) {
  return refusal::first_of(refuses_wiring("separate-dimensions", machine), refusal::of_switching_along("separate-dimensions", machine),
                           refusal::of_segments("separate-dimensions", request));
}

Plan plan(const Machine& machine, const Request& request) {
  const auto axes = std::make_shared<const Axes>(Axes::descending(machine));
  Plan plan;
  plan.start = [axes, root = request.sources.front()](Node& self) { return halving_program(self, *axes, root, {}); };
  plan.steps = axes->steps();
  plan.formula = "sum of ceil(log2 n_d)";
  if (machine.cost.hop_s > 0) plan.route_hops = halving_hops(machine.topology, *axes, request.sources.front());
  plan.channel_bytes = static_cast<double>(plan.steps) * static_cast<double>(request.bytes);
  return plan;
}

}  // namespace

const Algorithm separate_dimensions{
    .name = "separate-dimensions",
    .collective = Collective::broadcast,
    .source = "Barnett, Payne, van de Geijn & Watts, Separating Dimension",
    .shapes = "mesh or torus, any extents, any k",
    .ports = "one",
    .steps = "sum of ceil(log2 n_d)",
    .native = one_port_wormhole,
    .refuses = refuses,
    .plan = plan,
};

}  // namespace torus::broadcast
