/// Channels by name, for audits and reports. Sends have tables of their own.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <torus/message.hpp>
#include <torus/route.hpp>
#include <torus/topology.hpp>

namespace torus {

/// A channel, in the order of reports.
struct ChannelName {
  NodeId from = 0;
  Dimension dimension = 0;
  std::int32_t hop = 0;  ///< 1 or -1; in a complete dimension the offset of the neighbour
  auto operator<=>(const ChannelName&) const = default;
};

/// The slot of the in-channel by which a message arrives: that of the channel at its sender.
inline std::uint32_t in_slot_of(const Topology& topology, Leg last) noexcept {
  const bool complete = topology.wiring(last.dimension) == Wiring::complete;
  return static_cast<std::uint32_t>(
      topology.slot(last.dimension, complete ? modulo(last.hops, topology.extent(last.dimension)) : last.hops));
}
inline std::uint32_t in_slot_of(const Topology& topology, const Message& m) noexcept {
  return in_slot_of(topology, Leg{m.dimension(), m.direction()});
}

/// Calls f(channel) for each channel of a route that the machine has, in order.
template <class F>
void each_channel(const Topology& topology, NodeId from, RouteView route, F&& f) {
  NodeId at = from;
  for (const Leg& leg : route) {
    if (leg.hops == 0) continue;
    const bool complete = topology.wiring(leg.dimension) == Wiring::complete;
    const std::int32_t hop = complete ? leg.hops : leg.hops > 0 ? 1 : -1;
    for (std::int32_t done = 0; done != leg.hops; done += hop) {
      f(ChannelName{at, leg.dimension, hop});
      at = *topology.neighbour(at, leg.dimension, hop);
    }
  }
}

/// What the messages of a step take over each channel that they cross, several where channels are shared. Calls f(channel, bytes), in the
/// order of the channels. O(hops log hops). crossed: room that is used again.
template <class Messages, class F>
void each_channel_load(const Topology& topology, const Messages& messages, std::vector<std::pair<ChannelName, Bytes>>& crossed, F&& f) {
  crossed.clear();
  for (const Message* m : messages)
    each_channel(topology, m->source(), m->route(), [&](const ChannelName& c) { crossed.emplace_back(c, m->bytes()); });
  std::sort(crossed.begin(), crossed.end());
  for (auto at = crossed.begin(); at != crossed.end();) {
    const ChannelName channel = at->first;
    Bytes bytes = 0;
    for (; at != crossed.end() && at->first == channel; ++at) bytes += at->second;
    f(channel, bytes);
  }
}

}  // namespace torus
