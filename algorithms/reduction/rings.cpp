#include "algorithms/reduction/rings.hpp"

#include <memory>

#include "algorithms/reduction/ring_steps.hpp"
#include "algorithms/reduction/segment_bytes.hpp"

namespace torus::reduction {
namespace {

Program reduce_scatter(Node& self, const RingSteps& rings) {
  const Coordinates at = self.coordinates();
  for (std::uint32_t phase = 0; phase < rings.phases(); ++phase) {
    for (std::uint32_t step = 0; step < rings.steps(phase); ++step) {
      self.phase("reduce-scatter");
      for (const Shipment& each : rings.shipments(self.topology(), at, phase, step, false)) self.forward(combine, {each.leg}, each.blocks);
      co_await self.step();
    }
  }
}

Program allreduce(Node& self, const RingSteps& rings) {
  co_await reduce_scatter(self, rings);
  const Coordinates at = self.coordinates();
  for (std::uint32_t phase = rings.phases(); phase-- > 0;) {
    for (std::uint32_t step = rings.steps(phase); step-- > 0;) {
      self.phase("all-gather");
      for (const Shipment& each : rings.shipments(self.topology(), at, phase, step, true)) self.send({each.leg}, each.blocks);
      co_await self.step();
    }
  }
}

Plan plan(const Machine& machine, const Request& request, std::uint32_t parts) {
  const auto rings = std::make_shared<const RingSteps>(machine.topology, parts);
  const bool both = request.collective == Collective::allreduce;
  const std::uint64_t halves = both ? 2 : 1;
  Plan plan;
  plan.segments = rings->pieces() * (both ? machine.topology.nodes() : 1);
  plan.start = both ? std::function<Program(Node&)>([rings](Node& self) { return allreduce(self, *rings); })
                    : [rings](Node& self) { return reduce_scatter(self, *rings); };
  plan.steps = halves * rings->all_steps();
  plan.route_hops = plan.steps;
  plan.formula = std::string(both ? "2 " : "") + (parts > 1 ? "k max reach" : "sum of the reaches");
  const RingSteps::Load load = rings->load();
  const SegmentBytes segment(request, plan.segments);
  plan.channel_bytes = segment.of(halves * load.channel);
  plan.combined_bytes = segment.of(load.combined);
  plan.bytes_exact = segment.equal;
  plan.node_bytes = std::uint64_t{machine.topology.nodes()} * rings->pieces() * sizeof(BlockId);
  return plan;
}

Plan plan_all(const Machine& machine, const Request& request) {
  return plan(machine, request, static_cast<std::uint32_t>(machine.topology.dimensions()));
}
Plan plan_single(const Machine& machine, const Request& request) { return plan(machine, request, 1); }

constexpr std::string_view source = "bucket algorithm (Barnett et al. 1993; Jain & Sabharwal 2010), both ways round";

}  // namespace

const Algorithm rings_reduce_scatter{
    .name = "rings",
    .collective = Collective::reduce_scatter,
    .source = source,
    .shapes = "any",
    .steps = "k max reach: of a ring floor(n/2), a line n-1, a complete dimension 1",
    .native = {.switching = Switching::packet},
    .needs = {.ports = Requirements::all_ports},
    .plan = plan_all,
};

const Algorithm rings_allreduce{
    .name = "rings",
    .collective = Collective::allreduce,
    .source = source,
    .shapes = "any",
    .steps = "2 k max reach: of a ring floor(n/2), a line n-1, a complete dimension 1",
    .native = {.switching = Switching::packet},
    .needs = {.ports = Requirements::all_ports},
    .plan = plan_all,
};

const Algorithm rings_single_reduce_scatter{
    .name = "rings-single",
    .collective = Collective::reduce_scatter,
    .source = source,
    .shapes = "any",
    .steps = "sum of the reaches",
    .native = {.switching = Switching::packet},
    .needs = {.ports = Requirements::all_ports},
    .plan = plan_single,
};

const Algorithm rings_single_allreduce{
    .name = "rings-single",
    .collective = Collective::allreduce,
    .source = source,
    .shapes = "any",
    .steps = "2 x the sum of the reaches",
    .native = {.switching = Switching::packet},
    .needs = {.ports = Requirements::all_ports},
    .plan = plan_single,
};

}  // namespace torus::reduction
