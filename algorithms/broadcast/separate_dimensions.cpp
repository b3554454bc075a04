#include "algorithms/broadcast/separate_dimensions.hpp"

#include "algorithms/broadcast/axes.hpp"

namespace torus::broadcast {

const Algorithm separate_dimensions{
    .name = "separate-dimensions",
    .collective = Collective::broadcast,
    .source = "Barnett, Payne, van de Geijn & Watts, Separating Dimension",
    .shapes = "mesh or torus, any extents, any k",
    .steps = "sum of ceil(log2 n_d)",
    .native = {.ports = 1},
    .needs = {.shape = Requirements::Shape::rings_and_lines, .switching = Switching::wormhole, .one_dimension_a_route = true},
    .plan = [](const Machine& machine,
               const Request& request) { return halving_plan(request, Axes::descending(machine), separate_dimensions.steps); },
};

}  // namespace torus::broadcast
