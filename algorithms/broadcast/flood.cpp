#include "algorithms/broadcast/flood.hpp"

#include <array>

#include "algorithms/broadcast/segment_count.hpp"
#include "algorithms/common/parameters.hpp"
#include "algorithms/common/refusal.hpp"

namespace torus::broadcast {
namespace {

/// Sends a block over all channels but those that it came in by (each is the reverse of a channel that leaves here).
void pass_on(Node& self, BlockId block, const Arrivals& came) {
  const Topology& topology = self.topology();
  for (Dimension d = 0; d < topology.dimensions(); ++d) {
    const bool complete = topology.wiring(d) == Wiring::complete;
    const std::int32_t n = topology.extent(d);
    for (std::int32_t slot = 0; slot < (complete ? n - 1 : n > 1 ? 2 : 0); ++slot) {
      const std::int32_t direction = complete ? slot + 1 : (slot == 0 ? +1 : -1);
      const std::int32_t reverse = complete ? n - direction : -direction;
      bool back = false;
      for (const Message& m : came) back |= m.dimension() == d && m.direction() == reverse && m.blocks()[0] == block;
      if (!back && self.neighbour({d, direction})) self.send({{d, direction}}, {&block, 1});
    }
  }
}

Plan plan_segments(const Machine& machine, const Request& request, std::uint32_t segments) {
  const auto eccentricity = static_cast<Step>(machine.topology.eccentricity(request.sources.front()));
  Plan plan;
  plan.start = [eccentricity, segments](Node& self) { return flood_program(self, eccentricity, segments); };
  plan.segments = segments;
  plan.formula = segments == 1 ? "eccentricity of the root" : "eccentricity of the root + K-1";
  if (eccentricity == 0) return plan;
  plan.steps = std::uint64_t{eccentricity} + segments - 1;
  plan.route_hops = plan.steps;
  // Every segment is once the oldest on its way, the first for as many steps as it has hops to go.
  const Bytes first = bytes_of_segments(request.bytes, segments, 0, 1);
  plan.channel_bytes = static_cast<double>(request.bytes + (eccentricity - 1) * first);
  return plan;
}

Plan plan_whole(const Machine& machine, const Request& request) { return plan_segments(machine, request, 1); }

Plan plan_pipelined(const Machine& machine, const Request& request) {
  std::uint32_t segments = request.parameters.whole("segments");
  if (segments == 0) {
    const auto time = [&](std::uint32_t k) { return plan_segments(machine, request, k).model_time_s(machine.cost); };
    const std::int32_t eccentricity = machine.topology.eccentricity(request.sources.front());
    segments = best_segments(eccentricity > 1 ? eccentricity - 1.0 : 0.0, request.bytes, machine.topology.nodes(), machine.cost.byte_s,
                             machine.cost.steps(1, 0, 1), time);
  }
  Plan plan = plan_segments(machine, request, segments);
  plan.notes.emplace_back("segments", std::to_string(segments));
  return plan;
}

std::optional<std::string> refuses_whole(const Machine& machine, const Request& request) {
  if (request.parameters.whole("segments") > 1) {
    return "flood sends the message whole: --segments " + std::to_string(request.parameters.whole("segments")) +
           " is for flood-pipelined, 1 would do";
  }
  return refusal::of_ports_but_all("flood", machine);
}

std::optional<std::string> refuses_pipelined(const Machine& machine, const Request&) {
  return refusal::of_ports_but_all("flood-pipelined", machine);
}

constexpr std::array parameters{parameter::segments};

}  // namespace

Program flood_program(Node& self, Step eccentricity, std::uint32_t segments) {
  Arrivals came;
  BlockId block = 0;
  if (self.blocks().empty()) {
    came = co_await self.arrival();
    block = came.front().blocks()[0];
  } else {
    block = self.blocks().front();
  }
  if (self.now() >= eccentricity) co_return;
  for (std::uint32_t passed = 1;; ++passed, ++block) {  // a message's segments are numbered in sequence
    pass_on(self, block, came);
    if (passed == segments) co_return;
    came = co_await self.step();
  }
}

const Algorithm flood{
    .name = "flood",
    .collective = Collective::broadcast,
    .source = "folklore: the fewest steps of any store-and-forward broadcast",
    .shapes = "any",
    .ports = "all",
    .steps = "eccentricity of the root",
    .native = {.switching = Switching::packet},
    .parameters = parameters,
    .refuses = refuses_whole,
    .plan = plan_whole,
};

const Algorithm flood_pipelined{
    .name = "flood-pipelined",
    .collective = Collective::broadcast,
    .source = "folklore: flooding, the message cut in segments",
    .shapes = "any",
    .ports = "all",
    .steps = "eccentricity of the root + K-1, K segments",
    .native = {.switching = Switching::packet},
    .refuses = refuses_pipelined,
    .plan = plan_pipelined,
};

}  // namespace torus::broadcast
