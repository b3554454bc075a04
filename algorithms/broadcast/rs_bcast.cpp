#include "algorithms/broadcast/rs_bcast.hpp"

#include "algorithms/broadcast/axes.hpp"

namespace torus::broadcast {

const Algorithm rs_bcast{
    .name = "rs-bcast",
    .collective = Collective::broadcast,
    .source = "Barnett, Payne, van de Geijn & Watts, Recursive Splitting Broadcast",
    .shapes = "mesh or torus, any extents, any k",
    .steps = "ceil(log2 N)",
    .native = {.ports = 1},
    .needs = {.shape = Requirements::Shape::rings_and_lines, .switching = Switching::wormhole},
    .plan = [](const Machine& machine,
               const Request& request) { return halving_plan(request, Axes::linear_array(machine), rs_bcast.steps); },
};

}  // namespace torus::broadcast
