#include "algorithms/broadcast/edf.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "algorithms/broadcast/fence.hpp"
#include "algorithms/broadcast/pipeline.hpp"
#include "algorithms/broadcast/segment_count.hpp"
#include "algorithms/common/linked_dimensions.hpp"
#include "algorithms/common/parameters.hpp"

namespace torus::broadcast {
namespace {

/// To the next place of a dimension taken round: over the wrap-around link if there is one, else all the way back.
Leg round_leg(const Node& self, Dimension d) {
  const std::int32_t last = self.extent(d) - 1;
  const bool back = self.topology().wiring(d) == Wiring::line && self.coordinate(d) == last;
  return {d, back ? -last : +1};
}

/// One of a node's two ports, and what it has still to pass on.
struct PortDuty {
  std::uint32_t next = 0;  // segment; none if not below K
  bool diagonal = false;
};

/// The duties of a node of the fence.
struct FenceDuty {
  FenceDimensions dimensions;
  BlockId first = 0;  // id of segment 0
  std::uint32_t segments = 0;
  std::uint32_t colour = 0;
  PortDuty east, south;

  FenceDuty(const Node& self, FenceDimensions fence_dimensions, NodeId root, std::uint32_t segment_count)
      : dimensions{fence_dimensions}, first{BlockId{root} * segment_count}, segments{segment_count} {
    const auto extent = [&](Dimension d) { return static_cast<std::uint32_t>(self.extent(d)); };
    const auto from_root = [&](Dimension d) {
      return static_cast<std::uint32_t>(modulo(self.coordinate(d) - self.topology().coordinate(root, d), self.extent(d)));
    };
    const std::uint32_t r = extent(dimensions.row_dimension);
    const std::uint32_t c = extent(dimensions.column_dimension);
    const std::uint32_t i = from_root(dimensions.row_dimension);
    const std::uint32_t j = from_root(dimensions.column_dimension);
    colour = (i + j) % 2;
    const auto duty = [&](const FencePort& port) { return PortDuty{port.fence == 0 ? segments : port.fence - 1, port.diagonal}; };
    east = duty(east_port(r, c, i, j));
    south = duty(south_port(r, c, i, j));
  }

  bool done() const noexcept { return east.next >= segments && south.next >= segments; }
  bool ready(const Node& self, const PortDuty& port) const { return port.next < segments && self.holds(first + port.next); }
  bool ready(const Node& self) const { return ready(self, east) || ready(self, south); }

  /// Of the two ports, one may send in this step: passes its next segment on, if that has arrived.
  void serve(Node& self) {
    const bool eastward = self.now() % 2 == colour;
    PortDuty& port = eastward ? east : south;
    if (!ready(self, port)) return;
    const BlockId segment = first + port.next;
    Route route;
    for (const Dimension d : self.machine().routing) {
      const bool main = d == (eastward ? dimensions.column_dimension : dimensions.row_dimension);
      const bool side = d == (eastward ? dimensions.row_dimension : dimensions.column_dimension);
      if (main || (side && port.diagonal)) route.push_back(round_leg(self, d));
    }
    self.send(RouteView(route), {&segment, 1});
    port.next += 2;
  }
};

std::optional<Refusal> also_requires(const Machine& machine, const Request&) {
  const Topology& topology = machine.topology;
  const std::vector<Dimension> dimensions = linked_dimensions(topology);
  if (dimensions.size() > 2) {
    const auto rows = static_cast<NodeId>(topology.extent(dimensions.front()));
    return Refusal{Refusal::About::shape, topology.text(), "edf has a fence for two dimensions, not " + std::to_string(dimensions.size()),
                   std::to_string(rows) + "x" + std::to_string(topology.nodes() / rows)};
  }
  const bool single_hops = dimensions.size() == 2 && std::all_of(dimensions.begin(), dimensions.end(), [&](Dimension d) {
                             return topology.wiring(d) == Wiring::ring && topology.extent(d) % 2 == 0;
                           });
  return unmet({.switching = single_hops ? Switching::packet : Switching::wormhole}, edf.name, machine);
}

Plan plan(const Machine& machine, const Request& request) {
  const std::vector<Dimension> dimensions = linked_dimensions(machine.topology);
  if (dimensions.size() < 2) return pipeline_plan(machine, request);
  const FenceDimensions fence{dimensions[0], dimensions[1]};
  const auto r = static_cast<std::uint32_t>(machine.topology.extent(fence.row_dimension));
  const auto c = static_cast<std::uint32_t>(machine.topology.extent(fence.column_dimension));
  const auto hops_round = [&](Dimension d) {
    return machine.topology.wiring(d) == Wiring::line ? std::int64_t{machine.topology.extent(d)} - 1 : 1;
  };
  Plan plan = segmented_plan(
      machine, request, std::int64_t{r} + c, std::max(hops_round(fence.row_dimension), hops_round(fence.column_dimension)),
      [&](std::uint32_t k) { return fence_steps(r, c, k); }, [&](std::uint32_t k) { return fence_channel_bytes(r, c, request.bytes, k); });
  plan.start = [fence, root = request.sources.front(), k = plan.segments](Node& self) { return edf_program(self, fence, root, k); };
  plan.formula = "1+max(e1,e2) <= K+r+c";
  return plan;
}

constexpr std::array parameters{parameter::segments};

}  // namespace

Program edf_program(Node& self, FenceDimensions dimensions, NodeId root, std::uint32_t segments) {
  FenceDuty duty(self, dimensions, root, segments);
  while (!duty.done()) {
    duty.serve(self);
    if (duty.ready(self)) {
      co_await self.step();  // a segment waits for the other port
    } else if (!duty.done()) {
      co_await self.arrival();
    }
  }
}

const Algorithm edf{
    .name = "edf",
    .collective = Collective::broadcast,
    .source = "Barnett, Payne, van de Geijn & Watts, Pipelined Broadcast",
    .shapes = "mesh or torus r x c, any r, c",
    .steps = "K+r+c, for odd r or c up to two fewer; one row of N nodes: K+N-2; K segments",
    .native = {.ports = 1},
    .needs = {.shape = Requirements::Shape::rings_and_lines},
    .parameters = parameters,
    .also_requires = also_requires,
    .plan = plan,
};

}  // namespace torus::broadcast
