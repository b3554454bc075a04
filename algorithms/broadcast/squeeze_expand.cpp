// SPDX-License-Identifier: MIT
#include "algorithms/broadcast/squeeze_expand.hpp"

#include <algorithm>

#include "algorithms/broadcast/circuit/squeeze_variants.hpp"

namespace torus::broadcast {
namespace {

std::optional<std::string> refuses(const Machine& machine, const Request&) {
  const Topology& topology = machine.topology;
  if (!topology.is_torus()) return topology.text() + " is not a torus: squeeze-expand goes round rings, 8x12 would do";
  if (wide_dimensions(topology).size() < 2) {
    return topology.text() + " is a ring: squeeze-expand needs two dimensions wider than 1 (8x12 would do), dimension-wise takes rings";
  }
  if (machine.ports < 3) {
    return "squeeze-expand needs 3 ports or more: --ports " + std::to_string(machine.ports) +
           " is what dimension-wise is for, --ports 3 would do";
  }
  if (!allows(machine.switching, Switching::circuit)) {
    return "squeeze-expand turns corners at will: --switching " + std::string(name(machine.switching)) + " is too strict, circuit would do";
  }
  return std::nullopt;
}

Plan plan(const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  auto variants =
      wide_dimensions(topology).size() == 2 ? planar_variants(topology, machine.ports) : solid_variants(topology, machine.ports);
  std::stable_sort(variants.begin(), variants.end(),
                   [](const SqueezeVariant& a, const SqueezeVariant& b) { return a.least_steps < b.least_steps; });
  auto schedule = std::make_shared<const CircuitSchedule>(variants.front().build());
  const SqueezeVariant* chosen = &variants.front();
  for (const SqueezeVariant& variant : variants) {
    if (variant.least_steps >= schedule->steps()) break;
    if (&variant == chosen) continue;
    auto other = std::make_shared<const CircuitSchedule>(variant.build());
    if (other->steps() >= schedule->steps()) continue;
    schedule = std::move(other);
    chosen = &variant;
  }

  Plan plan;
  plan.steps = schedule->steps();
  plan.formula = chosen->formula + ", L = ceil(log_" + std::to_string(machine.ports + 1) + ")";
  plan.channel_bytes = schedule->channel_bytes(request.bytes);
  plan.table_bytes = schedule->table_bytes();
  plan.notes = {{"variant", chosen->name}};
  plan.start = [schedule](Node& self) { return follow_schedule(self, *schedule); };
  return plan;
}

}  // namespace

const Algorithm squeeze_expand{
    .name = "squeeze-expand",
    .collective = Collective::broadcast,
    .source = "Wang, Tseng, Ni & Sheu, sections 3.2, 4.2 and 5, theorems 3, 4, 7, 8, 9",
    .shapes = "torus of any sides, two or more of them wider than 1",
    .ports = "3 or more",
    .steps =
        "2D: min over a of L(m)+L(n_b)+(n_a mod 2), m = n_a less n_a mod 2; kD: at most 1+sum L(floor(n_d/2))+closing; L = "
        "ceil(log_{ports+1})",
    .native = {.switching = Switching::circuit},
    .refuses = refuses,
    .plan = plan,
};

}  // namespace torus::broadcast
