#include "algorithms/broadcast/circuit/schedule.hpp"

#include <algorithm>

#include "algorithms/common/hops.hpp"

namespace torus::broadcast {
namespace {

constexpr NodeId last_step = ~NodeId{0};  // what a message without a header says: nothing more to do

NodeId root_told_by(const Arrivals& came) noexcept { return came.front().header().empty() ? last_step : came.front().header()[0]; }

void send_own(Node& self, const CircuitSchedule& schedule, NodeId root) {
  const Topology& topology = self.topology();
  Coordinates place = self.coordinates();
  const Coordinates origin = topology.coordinates(root);
  for (std::size_t d = 0; d < place.size(); ++d) place[d] = modulo(place[d] - origin[d], topology.extent(static_cast<Dimension>(d)));
  const bool last = self.now() + 1 == schedule.steps();
  if (self.rank() == root) self.phase(schedule.phase(self.now()));
  const Word header[] = {root};
  const std::span<const Word> words(header, last ? 0 : 1);
  schedule.rule(self.now()).routes(place, [&self, &words](RouteView route) { self.send(route, self.blocks(), words); });
}

}  // namespace

Bytes CircuitSchedule::table_bytes() const {
  Bytes bytes = 0;
  for (const Scheduled& step : steps_) bytes += step.rule->table_bytes();
  return bytes;
}

double CircuitSchedule::channel_bytes(Bytes message) const noexcept {
  if (steps_.empty()) return 0;
  const auto count = static_cast<double>(steps_.size());
  return count * static_cast<double>(message) + (count - 1) * sizeof(Word);
}

std::uint64_t CircuitSchedule::route_hops(const Topology& topology) const {
  std::int64_t sum = 0;
  std::vector<NodeId> informed{0};
  for (const Scheduled& step : steps_) {
    std::int64_t longest = 0;
    for (std::size_t i = 0, n = informed.size(); i < n; ++i) {
      step.rule->routes(topology.coordinates(informed[i]), [&](RouteView route) {
        NodeId to = informed[i];
        for (const Leg& leg : route) to = topology.neighbour(to, leg.dimension, leg.hops).value();
        informed.push_back(to);
        longest = std::max(longest, hops_of(topology, route));
      });
    }
    sum += longest;
  }
  return static_cast<std::uint64_t>(sum);
}

Program follow_schedule(Node& self, const CircuitSchedule& schedule) {
  NodeId root = self.rank();
  if (self.blocks().empty()) {
    const Arrivals came = co_await self.arrival();
    root = root_told_by(came);
    if (root == last_step) co_return;
  }
  while (self.now() < schedule.steps()) {
    send_own(self, schedule, root);
    if (self.now() + 1 == schedule.steps()) co_return;
    co_await self.step();
  }
}

}  // namespace torus::broadcast
