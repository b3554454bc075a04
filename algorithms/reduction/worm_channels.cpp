#include "algorithms/reduction/worm_channels.hpp"

#include <cstdint>
#include <cstdlib>

namespace torus::reduction {

WormChannels::WormChannels(const Machine& machine)
    : machine_{&machine},
      used_(std::size_t{machine.topology.nodes()} * static_cast<std::size_t>(machine.topology.channel_slots()), false) {}

void WormChannels::free_after(std::size_t first) {
  for (; taken_.size() > first; taken_.pop_back()) used_[taken_.back()] = false;
}

bool WormChannels::walk(NodeId from, const Route& route) {
  const Topology& topology = machine_->topology;
  const std::size_t first = taken_.size();
  for (const auto [d, hops] : route) {
    const std::int32_t hop = hops > 0 ? 1 : -1, end = topology.extent(d) - 1;
    const auto slots = static_cast<std::size_t>(topology.channel_slots()), slot = static_cast<std::size_t>(topology.slot(d, hop));
    const NodeId stride = topology.stride(d), round = stride * static_cast<NodeId>(end);
    std::int32_t x = topology.coordinate(from, d);
    for (std::int32_t done = 0; done != hops; done += hop) {
      const std::size_t channel = from * slots + slot;
      if (used_[channel]) {
        free_after(first);
        return false;
      }
      used_[channel] = true;
      taken_.push_back(channel);
      if (hop > 0) {
        from = x == end ? from - round : from + stride;
        x = x == end ? 0 : x + 1;
      } else {
        from = x == 0 ? from + round : from - stride;
        x = x == 0 ? end : x - 1;
      }
    }
  }
  return true;
}

bool WormChannels::take(NodeId from, NodeId to, Route& route) {
  const Topology& topology = machine_->topology;
  route.clear();
  std::uint32_t ties = 0, backwards = 0;  // sets of legs: that may go either way round, and that go backwards
  for (const Dimension d : machine_->routing) {
    const std::int32_t hops = topology.offset(d, topology.coordinate(from, d), topology.coordinate(to, d));
    if (hops == 0) continue;
    if (2 * hops == topology.extent(d)) ties |= 1U << route.size();
    route.push_back({d, hops});
  }
  for (;;) {
    if (walk(from, route)) return true;
    backwards = (backwards - ties) & ties;  // the next subset
    if (backwards == 0) return false;
    for (std::size_t i = 0; i < route.size(); ++i) {
      if ((ties >> i & 1U) != 0) route[i].hops = std::abs(route[i].hops) * ((backwards >> i & 1U) != 0 ? -1 : 1);
    }
  }
}

}  // namespace torus::reduction
