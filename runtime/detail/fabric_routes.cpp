// SPDX-License-Identifier: MIT
/// Routes, from channel to channel.
#include "runtime/detail/fabric.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <span>
#include <vector>

namespace torus::detail {
namespace {

/// Whether a channel is among those of a route twice.
[[gnu::noinline]] bool crosses_twice(std::span<ChannelEntry* const> crossed) {
  std::vector<const ChannelEntry*> channels(crossed.begin(), crossed.end());
  std::sort(channels.begin(), channels.end(), std::less<>());
  return std::adjacent_find(channels.begin(), channels.end()) != channels.end();
}

}  // namespace

/// One hop under packet switching.
Fabric::Path Fabric::follow_hop(Worker& w, NodeId source, const Leg& leg) {
  Path path{source, 1, 0, false, leg.hops == 0};
  const std::uint32_t out = out_slot(leg);
  if (out == no_slot) return path;
  ChannelEntry& channel = channels_.of_node(source)[out];
  if (channel.to == no_node) return path;
  ChannelEntry** const room = w.channels.room_for(1);
  *room = &channel;
  w.channels.take(room + 1);
  path.destination = channel.to;
  path.in_slot = out;
  path.legal = true;
  return path;
}

/// The route without legs of 0 hops.
RouteView Fabric::moving_legs(RouteView route, std::vector<Leg>& scratch) {
  scratch.clear();
  std::copy_if(route.begin(), route.end(), std::back_inserter(scratch), [](const Leg& leg) { return leg.hops != 0; });
  return scratch;
}

/// Any route, from channel to channel, which are on their way from memory while the blocks are copied. Not legal if check_route() finds an offence;
/// which one is for the auditor to say. Ends at a leg of 0 hops: what such a route means is that without it.
[[gnu::noinline]] Fabric::Path Fabric::follow(Worker& w, NodeId source, RouteView legs) {
  Path path{source, 0, 0, false, false};
  std::int32_t last_turn = -1;
  for (const Leg& leg : legs) {
    const auto d = static_cast<std::uint32_t>(leg.dimension);
    if (d >= dimensions_) return path;
    path.idle_leg = leg.hops == 0;
    if (path.idle_leg || (ordered_ && turns_[d] <= last_turn)) [[unlikely]] return path;
    last_turn = turns_[d];
    ChannelEntry** const first = w.channels.room_for(longest_leg_);
    ChannelEntry** crossed = first;
    const ChannelTable::End end = channels_.walk(path.destination, leg, [&crossed](ChannelEntry& entry) {
      __builtin_prefetch(&entry, 1);
      *crossed++ = &entry;
    });
    if (end.node == no_node) return path;
    w.channels.take(crossed);
    path.hops += static_cast<std::uint32_t>(crossed - first);
    path.destination = end.node;
    path.in_slot = end.slot;
  }
  if (path.hops == 0 || (packet_ && path.hops > 1)) return path;
  // Where channels are not shared, claims find that out.
  if (shared_ && !ordered_ && legs.size() > 1 && crosses_twice(w.channels.last(path.hops))) return path;
  if (links_) links_->prefetch(std::size_t{path.destination} * slots_ + path.in_slot);
  arrived_.prefetch(path.destination);
  next_active_->prefetch(path.destination);
  path.legal = true;
  return path;
}

}  // namespace torus::detail
