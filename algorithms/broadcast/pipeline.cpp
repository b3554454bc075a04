#include "algorithms/broadcast/pipeline.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <memory>

#include "algorithms/broadcast/one_port_mesh.hpp"
#include "algorithms/broadcast/segment_count.hpp"
#include "algorithms/common/parameters.hpp"

namespace torus::broadcast {
namespace {

refusal::Refusal refuses(const Machine& machine, const Request&) {
  return refusal::first_of(refuses_wiring("pipeline", machine), refusal::of_switching("pipeline", machine, Switching::wormhole));
}

/// Sends a segment to the next place of the ring.
void pass_on(Node& self, const Axis& ring, BlockId segment) {
  const Place next = (ring.place(self.topology(), self.rank()) + 1) % ring.places();
  self.send(RouteView(ring.route(self.machine(), self.rank(), next)), {&segment, 1});
}

/// Hops between the places of the ring from the root on.
std::vector<std::int64_t> links_of(const Topology& topology, const Axis& ring, Place root) {
  std::vector<std::int64_t> links;
  for (Place i = 0; i + 1 < ring.places(); ++i) {
    links.push_back(ring.hops(topology, (root + i) % ring.places(), (root + i + 1) % ring.places()));
  }
  return links;
}

constexpr std::array parameters{parameter::segments};

}  // namespace

Program pipeline_program(Node& self, const Axis& ring, NodeId root, std::uint32_t segments) {
  const Place place = ring.place(self.topology(), self.rank()) + 1;
  if (place % ring.places() == ring.place(self.topology(), root)) co_return;  // the last: all segments end here
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

Bytes pipeline_channel_bytes(Place places, Bytes bytes, std::uint64_t segments) noexcept {
  // The longer segments go first; while one of them is on its way it is what the step costs.
  const Bytes longer = bytes % segments;
  return bytes / segments * pipeline_steps(places, segments) + (longer > 0 ? pipeline_steps(places, longer) : 0);
}

std::uint64_t pipeline_hops(std::span<const std::int64_t> links, std::uint64_t segments) {
  if (links.empty()) return 0;
  // In step t the links t-K+1 .. t carry segments, as far as there are such. The greatest of a window that moves on:
  std::int64_t sum = 0;
  std::deque<std::size_t> falling;  // links of the window that no later one of it reaches, the longest first
  for (std::size_t t = 0; t < links.size(); ++t) {
    while (!falling.empty() && links[falling.back()] <= links[t]) falling.pop_back();
    falling.push_back(t);
    if (t - falling.front() >= segments) falling.pop_front();
    sum += links[falling.front()];
  }
  // Then the last link stays in it: for a while all links do, if there are more segments, and then the window shrinks.
  if (segments > links.size()) sum += static_cast<std::int64_t>(segments - links.size()) * links[falling.front()];
  const std::uint64_t window = std::min<std::uint64_t>(segments, links.size());
  for (std::size_t first = links.size() - window + 1; first < links.size(); ++first) {
    if (falling.front() < first) falling.pop_front();
    sum += links[falling.front()];
  }
  return static_cast<std::uint64_t>(sum);
}

Plan pipeline_plan(const Machine& machine, const Request& request) {
  const auto ring = std::make_shared<const Axis>(Axis::linear_array(machine));
  const Place p = ring->places();
  const CostModel& cost = machine.cost;
  std::vector<std::int64_t> links;
  if (cost.hop_s > 0) links = links_of(machine.topology, *ring, ring->place(machine.topology, request.sources.front()));
  const auto time = [&](std::uint32_t k) {
    return cost.steps(static_cast<double>(pipeline_steps(p, k)), static_cast<double>(pipeline_channel_bytes(p, request.bytes, k)),
                      static_cast<double>(pipeline_hops(links, k)));
  };
  const double longest = links.empty() ? 0 : static_cast<double>(*std::max_element(links.begin(), links.end()));
  const double step_s = cost.steps(1, 0, longest);
  Plan plan;
  plan.segments = request.parameters.whole("segments") != 0 ? request.parameters.whole("segments")
                                                            : best_segments(p > 2 ? static_cast<double>(p - 2) : 0.0, request.bytes,
                                                                            machine.topology.nodes(), cost.byte_s, step_s, time);
  plan.start = [ring, root = request.sources.front(), k = plan.segments](Node& self) { return pipeline_program(self, *ring, root, k); };
  plan.steps = pipeline_steps(p, plan.segments);
  plan.route_hops = pipeline_hops(links, plan.segments);
  plan.formula = "K+N-2";
  plan.channel_bytes = static_cast<double>(pipeline_channel_bytes(p, request.bytes, plan.segments));
  plan.notes = {{"segments", std::to_string(plan.segments)}};
  return plan;
}

const Algorithm pipeline{
    .name = "pipeline",
    .collective = Collective::broadcast,
    .source = "Barnett, Payne, van de Geijn & Watts, Pipelined Broadcast (one dimension)",
    .shapes = "mesh or torus, any extents, any k",
    .ports = "one",
    .steps = "K+N-2, K segments",
    .native = one_port_wormhole,
    .parameters = parameters,
    .refuses = refuses,
    .plan = pipeline_plan,
};

}  // namespace torus::broadcast
