#include "algorithms/broadcast/pipeline.hpp"

#include <array>
#include <memory>

#include "algorithms/broadcast/segment_count.hpp"
#include "algorithms/common/parameters.hpp"

namespace torus::broadcast {
namespace {

/// Sends a segment to the next place of the ring.
void pass_on(Node& self, const Axis& ring, BlockId segment) {
  const Place next = (ring.place(self.topology(), self.rank()) + 1) % ring.places();
  self.send(RouteView(ring.route(self.machine(), self.rank(), next)), {&segment, 1});
}

constexpr std::array parameters{parameter::segments};

}  // namespace

Program pipeline_program(Node& self, const Axis& ring, NodeId root, std::uint32_t segments) {
  const Place place = ring.place(self.topology(), self.rank()) + 1;
  if (place % ring.places() == ring.place(self.topology(), root)) co_return;  // the last place: all segments end here
  for (std::uint32_t s = 0; s < segments; ++s) {
    if (self.rank() != root) {
      co_await self.arrival();
    } else if (s > 0) {
      co_await self.step();
    }
    pass_on(self, ring, BlockId{root} * segments + s);
  }
}

std::uint64_t pipeline_steps(Place places, std::uint64_t segments) noexcept { return places > 1 ? segments + places - 2 : 0; }

ByteSum pipeline_channel_bytes(Place places, Bytes bytes, std::uint64_t segments) noexcept {
  // The longer segments go first. A step costs the longer size while one of them is on its way.
  const Bytes longer = bytes % segments;
  return times_bytes(pipeline_steps(places, segments), bytes / segments) +
         (longer > 0 ? times_bytes(pipeline_steps(places, longer), 1) : 0);
}

Plan pipeline_plan(const Machine& machine, const Request& request) {
  const auto ring = std::make_shared<const Axis>(Axis::linear_array(machine));
  const Place p = ring->places();
  std::int64_t closing_hops = 0;  // from the last place of the ring to the first: its longest route
  for (const DimensionShape& dimension : machine.topology.shape()) closing_hops += dimension.extent - 1;
  Plan plan = segmented_plan(
      machine, request, std::int64_t{p} - 2, closing_hops, [p](std::uint32_t k) { return pipeline_steps(p, k); },
      [&](std::uint32_t k) { return pipeline_channel_bytes(p, request.bytes, k); });
  plan.start = [ring, root = request.sources.front(), k = plan.segments](Node& self) { return pipeline_program(self, *ring, root, k); };
  plan.formula = "K+N-2";
  return plan;
}

const Algorithm pipeline{
    .name = "pipeline",
    .collective = Collective::broadcast,
    .source = "Barnett, Payne, van de Geijn & Watts, Pipelined Broadcast (one dimension)",
    .shapes = "mesh or torus, any extents, any k",
    .steps = "K+N-2, K segments",
    .native = {.ports = 1},
    .needs = {.shape = Requirements::Shape::rings_and_lines, .switching = Switching::wormhole},
    .parameters = parameters,
    .plan = pipeline_plan,
};

}  // namespace torus::broadcast
