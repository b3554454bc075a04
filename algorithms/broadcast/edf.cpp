#include "algorithms/broadcast/edf.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "algorithms/broadcast/fence.hpp"
#include "algorithms/broadcast/one_port_mesh.hpp"
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

  /// Lets the port whose turn it is in this step pass its next segment on, if that has come.
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

/// More than two dimensions of more than one node.
refusal::Refusal refuses_dimensions(const Topology& topology) {
  const std::vector<Dimension> dimensions = linked_dimensions(topology);
  if (dimensions.size() <= 2) return std::nullopt;
  const auto rows = static_cast<NodeId>(topology.extent(dimensions.front()));
  return "edf has a fence for two dimensions: " + topology.text() + " has " + std::to_string(dimensions.size()) + ", " +
         std::to_string(rows) + "x" + std::to_string(topology.nodes() / rows) + " would do, or --algorithm pipeline";
}

refusal::Refusal refuses(const Machine& machine, const Request&) {
  const std::vector<Dimension> dimensions = linked_dimensions(machine.topology);
  bool single_hops = dimensions.size() == 2;  // a torus with both sides even
  for (const Dimension d : dimensions) {
    single_hops = single_hops && machine.topology.wiring(d) == Wiring::ring && machine.topology.extent(d) % 2 == 0;
  }
  return refusal::first_of(refuses_wiring("edf", machine), refuses_dimensions(machine.topology),
                           refusal::of_switching("edf", machine, single_hops ? Switching::packet : Switching::wormhole));
}

/// The hops of the longest routes. A segment goes from a node to the next a number of steps after its own number, its age: what counts is
/// the longest route of each fence and age.
class FenceHops {
 public:
  /// O(nodes).
  FenceHops(const Topology& topology, FenceDimensions dimensions, NodeId root) {
    const auto r = static_cast<std::uint32_t>(topology.extent(dimensions.row_dimension));
    const auto c = static_cast<std::uint32_t>(topology.extent(dimensions.column_dimension));
    for (std::vector<std::uint32_t>& ages : longest_) ages.assign(std::size_t{r} + c + 2, 0);
    // To the next line of a dimension, from place x relative to the root.
    const auto round = [&](Dimension d, std::uint32_t x) {
      const auto extent = static_cast<std::uint32_t>(topology.extent(d));
      const std::uint32_t own = (static_cast<std::uint32_t>(topology.coordinate(root, d)) + x) % extent;
      return topology.wiring(d) == Wiring::line && own == extent - 1 ? own : 1;
    };
    const auto mark = [&](const FencePort& port, std::uint32_t i, std::uint32_t j, bool eastward) {
      if (port.fence == 0) return;
      const bool rows = !eastward || port.diagonal, columns = eastward || port.diagonal;
      const std::uint32_t hops = (rows ? round(dimensions.row_dimension, i) : 0) + (columns ? round(dimensions.column_dimension, j) : 0);
      const std::uint32_t to_i = rows ? (i + 1) % r : i, to_j = columns ? (j + 1) % c : j;
      const std::uint64_t age = port.fence == 1 ? fence_step(c, to_i, to_j, 0) : fence_step(r, to_j, to_i, 0);
      std::uint32_t& longest = longest_[port.fence - 1][age];
      longest = std::max(longest, hops);
      most_ = std::max(most_, hops);
    };
    for (std::uint32_t i = 0; i < r; ++i) {
      for (std::uint32_t j = 0; j < c; ++j) {
        mark(east_port(r, c, i, j), i, j, true);
        mark(south_port(r, c, i, j), i, j, false);
      }
    }
  }

  std::uint32_t most() const noexcept { return most_; }

  /// Summed over the steps, for so many segments. O((r + c)^2).
  std::uint64_t sum(std::uint64_t steps, std::uint64_t segments) const {
    const std::uint64_t ages = longest_[0].size();
    std::uint64_t sum = 0;
    for (std::uint64_t t = 0; t < steps; ++t) {
      if (t == ages && segments > ages + 2) {  // until no segment starts any more, steps two apart are alike
        const std::uint64_t pairs = (segments - ages) / 2;
        sum += pairs * (in_step(t, segments) + in_step(t + 1, segments));
        t += 2 * pairs;
      }
      sum += in_step(t, segments);
    }
    return sum;
  }

 private:
  std::uint64_t in_step(std::uint64_t t, std::uint64_t segments) const {
    std::uint32_t longest = 0;
    for (const std::uint64_t first : {0U, 1U}) {  // the even segments go by fence 1, the odd ones by fence 2
      for (std::uint64_t age = (t + first) % 2; age < longest_[first].size() && age + first <= t; age += 2) {
        if (t - age < segments) longest = std::max(longest, longest_[first][age]);
      }
    }
    return longest;
  }

  std::array<std::vector<std::uint32_t>, 2> longest_;  // by fence, age
  std::uint32_t most_ = 0;
};

Plan plan(const Machine& machine, const Request& request) {
  const std::vector<Dimension> dimensions = linked_dimensions(machine.topology);
  if (dimensions.size() < 2) return pipeline_plan(machine, request);
  const auto r = static_cast<std::uint32_t>(machine.topology.extent(dimensions[0]));
  const auto c = static_cast<std::uint32_t>(machine.topology.extent(dimensions[1]));
  const CostModel& cost = machine.cost;
  std::optional<FenceHops> hops;
  if (cost.hop_s > 0) hops.emplace(machine.topology, FenceDimensions{dimensions[0], dimensions[1]}, request.sources.front());
  const auto route_hops = [&](std::uint32_t k) { return hops ? hops->sum(fence_steps(r, c, k), k) : 0; };
  const auto time = [&](std::uint32_t k) {
    return cost.steps(static_cast<double>(fence_steps(r, c, k)), static_cast<double>(fence_channel_bytes(r, c, request.bytes, k)),
                      static_cast<double>(route_hops(k)));
  };
  const double step_s = cost.steps(1, 0, hops ? hops->most() : 0);
  Plan plan;
  plan.segments = request.parameters.whole("segments") != 0
                      ? request.parameters.whole("segments")
                      : best_segments(r + c, request.bytes, machine.topology.nodes(), cost.byte_s, step_s, time);
  plan.start = [fence = FenceDimensions{dimensions[0], dimensions[1]}, root = request.sources.front(), k = plan.segments](Node& self) {
    return edf_program(self, fence, root, k);
  };
  plan.steps = fence_steps(r, c, plan.segments);
  plan.route_hops = route_hops(plan.segments);
  plan.formula = "1+max(e1,e2) <= K+r+c";
  plan.channel_bytes = static_cast<double>(fence_channel_bytes(r, c, request.bytes, plan.segments));
  plan.notes = {{"segments", std::to_string(plan.segments)}};
  return plan;
}

constexpr std::array parameters{parameter::segments};

}  // namespace

Program edf_program(Node& self, FenceDimensions dimensions, NodeId root, std::uint32_t segments) {
  FenceDuty duty(self, dimensions, root, segments);
  while (!duty.done()) {
    duty.serve(self);
    if (duty.ready(self)) {
      co_await self.step();  // a segment waits for the other port's turn
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
    .ports = "one",
    .steps = "K+r+c, for odd r or c up to two fewer; one row of N nodes: K+N-2; K segments",
    .native = one_port_wormhole,
    .parameters = parameters,
    .refuses = refuses,
    .plan = plan,
};

}  // namespace torus::broadcast
