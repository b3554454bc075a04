#include "algorithms/broadcast/scatter_collect_2d.hpp"

#include "algorithms/broadcast/one_port_mesh.hpp"
#include "algorithms/broadcast/scatter_collect.hpp"

namespace torus::broadcast {
namespace {

refusal::Refusal refuses(const Machine& machine, const Request& request) {
  return refuses_scatter_collect("scatter-collect-2d", machine, request);
}

Plan plan(const Machine& machine, const Request& request) {
  return scatter_collect_plan(machine, request, Axes::ascending(machine), "sum of (ceil(log2 n_d)+n_d-1)");
}

}  // namespace

const Algorithm scatter_collect_2d{
    .name = "scatter-collect-2d",
    .collective = Collective::broadcast,
    .source = "Barnett, Payne, van de Geijn & Watts, 2-D Scatter-Collect",
    .shapes = "mesh or torus, any extents, any k",
    .ports = "one",
    .steps = "sum of (ceil(log2 n_d)+n_d-1)",
    .native = one_port_wormhole,
    .refuses = refuses,
    .plan = plan,
};

}  // namespace torus::broadcast
