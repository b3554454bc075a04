#include "algorithms/broadcast/scatter_collect_1d.hpp"

#include "algorithms/broadcast/one_port_mesh.hpp"
#include "algorithms/broadcast/scatter_collect.hpp"

namespace torus::broadcast {
namespace {

refusal::Refusal refuses(const Machine& machine, const Request& request) {
  return refuses_scatter_collect("scatter-collect-1d", machine, request);
}

Plan plan(const Machine& machine, const Request& request) {
  return scatter_collect_plan(machine, request, Axes::linear_array(machine), "ceil(log2 N)+N-1");
}

}  // namespace

const Algorithm scatter_collect_1d{
    .name = "scatter-collect-1d",
    .collective = Collective::broadcast,
    .source = "Barnett, Payne, van de Geijn & Watts, 1-D Scatter-Collect",
    .shapes = "mesh or torus, any extents, any k",
    .ports = "one",
    .steps = "ceil(log2 N)+N-1",
    .native = one_port_wormhole,
    .refuses = refuses,
    .plan = plan,
};

}  // namespace torus::broadcast
