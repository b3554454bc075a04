/// Broadcasts in K segments that follow one another, with one port.
/// Machine  wormhole, 1 port, meshes and tori of any extents.   Header  none.   Memory  O(1) a node.
/// Choice   `segments`, K. Without it the K of least model time.
/// Source   Barnett, Payne, van de Geijn & Watts, "Pipelined Broadcast".
///
/// pipeline  Round the ring of all nodes, from the root to the node before it. The ring is the linear array of axes.hpp, closed, without
///           wrap-around links, in any number of dimensions. All routes of a step may be in use, and none share a channel: two neighbours
///           i -> i+1 of the array both go "to the right". The closing route starts in the last place of every slower dimension (or ends
///           in the first), where no other route turns back.
///   Steps   K + p - 2 on p nodes. Best for long messages on few nodes: every byte crosses a channel once, after p - 2 steps.
///   Source  the one-dimensional case; the ring is that of their "1-D Scatter-Collect".
/// edf       Edge-disjoint fences: two pipelines at once, the even segments to the east and the odd ones to the south (pipelines.hpp). The
///           root starts a segment in every step, and a node receives at most one and sends at most one in a step. r x c nodes, other
///           dimensions of extent 1. On a torus with both sides even all routes are single hops, and packet switching does. A route round
///           takes the wrap-around link where there is one, else the way back. One row or column: `pipeline`.
///   Steps   1 + max(e1, e2) <= K + r + c: e1 = s + r + c - (c even: 0; c odd, r = 2: 2; else 1) with the last even segment s, e2 the same
///           with the last odd segment and r and c exchanged. One row or column of p nodes: K + p - 2.

#include "algorithms/broadcast/pipelines.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/broadcast/axes.hpp"
#include "algorithms/common/parameters.hpp"
#include "algorithms/common/shapes.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/program_memory.hpp"

namespace torus::broadcast {
namespace {

/// The ages at which a segment of a fence is on its way: the numbers of steps after step s in which segment s moves somewhere.
class Travel {
 public:
  /// Fence 1 of an r x c mesh; fence 2 is fence 1 of the transposed one.
  Travel(std::uint32_t r, std::uint32_t c) : latest_(r + c + 2) {
    for (std::uint32_t j = 1; j < c; ++j) mark(fence_step(c, 0, j, 0));
    for (std::uint32_t sum = 2; sum <= r - 1 + c - 1; ++sum) mark(sum);  // i + j of the nodes with i, j >= 1
    for (std::uint32_t i = 1; i < r; ++i) mark(fence_step(c, i, 0, 0));
    for (std::size_t t = 2; t < latest_.size(); ++t) {
      if (!latest_[t]) latest_[t] = latest_[t - 2];
    }
  }

  /// The first of the segments first, first + 2, .. <= last that is on its way in step t.
  std::optional<std::uint64_t> segment(std::uint64_t t, std::uint64_t first, std::uint64_t last) const {
    if (t < first) return std::nullopt;
    // Segments of this fence have the parity of `first`, so their ages have the parity of the oldest segment's.
    const std::uint64_t age = t - first;
    std::uint64_t row = age;
    if (row >= latest_.size()) row = latest_.size() - 1 - (latest_.size() - 1 - age) % 2;
    if (!latest_[row] || t - *latest_[row] > last) return std::nullopt;
    return t - *latest_[row];
  }

 private:
  void mark(std::uint64_t age) { latest_[age] = age; }

  std::vector<std::optional<std::uint64_t>> latest_;  // by t: the largest age <= t of t's parity at which a segment moves
};

}  // namespace

ByteSum fence_channel_bytes(std::uint32_t r, std::uint32_t c, Bytes bytes, std::uint64_t segments) {
  const Travel even(r, c);
  const Travel odd(c, r);
  // The longer segments come first: the first one on its way is the longest.
  const auto first_moving = [&](std::uint64_t t) {
    const std::uint64_t last = segments - 1;
    return std::min(even.segment(t, 0, last).value_or(segments), odd.segment(t, 1, last).value_or(segments));
  };
  ByteSum sum = 0;
  const auto add = [&](std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t t = from; t < to; ++t) {
      if (const std::uint64_t s = first_moving(t); s < segments) sum += times_bytes(1, bytes_of_segments(bytes, segments, s, s + 1));
    }
  };
  const std::uint64_t steps = fence_steps(r, c, segments);
  const std::uint64_t full = std::uint64_t{r} + c + 2;  // no segment travels longer: from here on all ages occur
  if (segments <= full) {
    add(0, steps);
    return sum;
  }
  add(0, full);
  for (const std::uint64_t t : {full, full + 1}) {  // steps t, t + 2, .. while segments start: each is like the one before, two segments on
    const std::uint64_t count = (segments - t + 1) / 2;
    const std::uint64_t age = t - first_moving(t);
    const std::uint64_t last_longer = std::min(segments, bytes % segments + age);  // in steps before this the first one moving is longer
    sum += times_bytes(count, bytes / segments) + (last_longer > t ? times_bytes((last_longer - t + 1) / 2, 1) : 0);
  }
  add(segments, steps);
  return sum;
}

std::uint64_t pipeline_steps(Place places, std::uint64_t segments) noexcept { return places > 1 ? segments + places - 2 : 0; }

ByteSum pipeline_channel_bytes(Place places, Bytes bytes, std::uint64_t segments) noexcept {
  // The longer segments go first. A step costs the longer size while one of them is on its way.
  const Bytes longer = bytes % segments;
  return times_bytes(pipeline_steps(places, segments), bytes / segments) +
         (longer > 0 ? times_bytes(pipeline_steps(places, longer), 1) : 0);
}

}  // namespace torus::broadcast

namespace torus::broadcast::pipelines {
namespace {

/// Sends a segment to the next place of the ring.
void pass_round(Node& self, const Axis& ring, BlockId segment) {
  const Place next = (ring.place(self.topology(), self.rank()) + 1) % ring.places();
  self.send(RouteView(ring.route(self.machine(), self.rank(), next)), {&segment, 1});
}

/// Round the ring that an axis makes when its ends meet. `ring` must outlive the run.
Program pipeline_program(Node& self, const Axis& ring, NodeId root, std::uint32_t segments) {
  const Place place = ring.place(self.topology(), self.rank()) + 1;
  if (place % ring.places() == ring.place(self.topology(), root)) co_return;  // the last place: all segments end here
  for (std::uint32_t s = 0; s < segments; ++s) {
    if (self.rank() != root) {
      co_await self.arrival();
    } else if (s > 0) {
      co_await self.step();
    }
    pass_round(self, ring, BlockId{root} * segments + s);
  }
}

/// For any machine without a complete dimension.
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
  plan.message_bytes = bytes_of_messages(1) * std::min<std::uint64_t>(p, plan.segments) / p;  // a segment is at one place at a time
  return plan;
}

/// The two dimensions of the fence: rows run along `column_dimension`.
struct FenceDimensions {
  Dimension row_dimension = 0;
  Dimension column_dimension = 1;
};

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

  /// One of the two ports may send in this step. It passes its next segment on, if that has arrived.
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

/// For machines whose two dimensions have at least 2 nodes each; `segments` is K, at least 1.
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

std::optional<Refusal> edf_also_requires(const Machine& machine, const Request&) {
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
  return unmet({.switching = single_hops ? Switching::packet : Switching::wormhole}, "edf", machine);
}

Plan edf_plan(const Machine& machine, const Request& request) {
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
  if (plan.segments == 1) plan.message_bytes = bytes_of_messages(1) / 2;  // each node is told once
  return plan;
}

constexpr std::array parameters{parameter::segments};

const Algorithm pipeline{
    .name = "pipeline",
    .collective = Collective::broadcast,
    .source = "Barnett, Payne, van de Geijn & Watts, Pipelined Broadcast (one dimension)",
    .shapes = "mesh or torus, any extents, any k",
    .steps = "K+N-2, K segments",
    .idea = {.first =
                 "The message is cut into segments, and all nodes form one ring: the root sends segment after segment to the next node.",
             .then = "Every node passes on in a step what came in the step before, so that soon all nodes work at the same time.",
             .good = "Each channel of the ring carries the message once, which no broadcast through one port can undercut, so that very "
                     "long messages gain; on many nodes the first segment is long on its way."},
    .native = {.ports = 1},
    .needs = {.shape = Requirements::Shape::rings_and_lines, .switching = Switching::wormhole},
    .parameters = parameters,
    .plan = pipeline_plan,
};

constexpr std::array fence_terms{Term{"r", "rows, the nodes of a column"}, Term{"c", "columns, the nodes of a row"},
                                 Term{"e1", "last step of the even segments"}, Term{"e2", "last step of the odd segments"}};

const Algorithm edf{
    .name = "edf",
    .collective = Collective::broadcast,
    .source = "Barnett, Payne, van de Geijn & Watts, Pipelined Broadcast",
    .shapes = "mesh or torus r x c, any r, c",
    .steps = "K+r+c, for odd r or c up to two fewer; one row of N nodes: K+N-2; K segments",
    .idea = {.first = "The message is cut into segments, which leave the root in turn to the east and to the south.",
             .then = "The even segments and the odd ones run through rows and columns by two fences that have no channel in common, and in "
                     "a step a node takes at most one segment and passes at most one on.",
             .good = "It is a pipeline whose way to the last node is a row and a column, not all nodes, so that long messages gain on "
                     "large machines as well."},
    .terms = fence_terms,
    .native = {.ports = 1},
    .needs = {.shape = Requirements::Shape::rings_and_lines},
    .parameters = parameters,
    .also_requires = edf_also_requires,
    .plan = edf_plan,
};

}  // namespace

extern const Entries entries{pipeline, edf};

}  // namespace torus::broadcast::pipelines
