#include "algorithms/broadcast/strip.hpp"

#include <array>
#include <optional>
#include <vector>

#include "algorithms/broadcast/swath_plan.hpp"

namespace torus::broadcast {
namespace {

std::vector<std::uint32_t> values(const Machine& machine) { return swath_values(machine, Ways::forward); }

std::optional<Refusal> also_requires(const Machine& machine, const Request& request) {
  return swath_also_requires(machine, request, Ways::forward, "strip");
}

Plan plan(const Machine& machine, const Request& request) { return swath_plan(machine, request, Ways::forward, strip.steps); }

constexpr std::array parameters{Parameter{"h", "pieces that the message is split into", {}, values}};

}  // namespace

const Algorithm strip{
    .name = "strip",
    .collective = Collective::broadcast,
    .source = "ours: scatter, spread over classes of rows, gather, with one port",
    .shapes = "torus of any dimension, any sides; h up to the shorter of two rings, and more by whole dimensions",
    .steps =
        "L2(h) + L2(rows of a class, and one) + sum of L2(n_d) but n_a + (w-1), w the most rows from one of a class to the next, "
        "L2 = ceil(log2); whole dimensions: L2(n_d) + n_d-1 each, and this for the rest",
    .native = {.ports = 1},
    .needs = {.shape = Requirements::Shape::torus, .switching = Switching::wormhole},
    .parameters = parameters,
    .also_requires = also_requires,
    .plan = plan,
};

}  // namespace torus::broadcast
