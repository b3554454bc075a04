#include "runtime/engine/network/channels.hpp"

#include <algorithm>
#include <functional>
#include <iterator>

namespace torus::detail {

void CrossedChannels::grow(std::size_t most) {
  const std::size_t had = size();
  const std::size_t room = 2 * (had + most);
  auto larger = std::make_unique_for_overwrite<ChannelEntry*[]>(room);  // untouched until it is used: there is room for a whole long line
  std::copy_n(room_.get(), had, larger.get());
  room_ = std::move(larger);
  end_ = room_.get() + had;
  limit_ = room_.get() + room;
}

Channels::Channels(const Machine& machine, const Slab& own)
    : topology_{machine.topology},
      dimensions_{static_cast<std::uint32_t>(topology_.dimensions())},
      packet_{machine.switching == Switching::packet},
      ordered_{machine.switching == Switching::wormhole},
      shared_{machine.contention == Contention::share},
      whole_{topology_.whole() && own.whole()},
      table_(machine, own) {
  hop_slots_.fill(no_slot);
  for (Dimension d = 0; d < topology_.dimensions(); ++d) {
    longest_leg_ = std::max(longest_leg_, static_cast<std::size_t>(topology_.extent(d)));
    routing_order_[static_cast<std::size_t>(d)] =
        static_cast<std::int32_t>(std::find(machine.routing.begin(), machine.routing.end(), d) - machine.routing.begin());
    const bool linked = topology_.extent(d) > 1;
    const bool complete = topology_.wiring(d) == Wiring::complete;
    const auto first = static_cast<std::uint32_t>(topology_.first_slot(d));
    std::uint32_t* const of_dimension = &hop_slots_[static_cast<std::size_t>(d) * 4];
    of_dimension[0] = linked && !complete ? first + 1 : no_slot;
    of_dimension[2] = linked ? first : no_slot;
  }
  if (!shared_) return;
  shared_bytes_ = Region<std::uint64_t>(table_.entries());
  shared_messages_ = Region<std::uint64_t>(table_.entries());
}

void Channels::made() {
  if (topology_.whole()) return;
  for (const Link& link : topology_.faults().dead_links) kill(link);
  const Topology shape = topology_.with_faults({});
  for (const NodeId node : topology_.faults().dead_nodes) {
    shape.each_link(node, [&](Dimension d, std::int32_t hop, NodeId) { kill({node, d, hop}); });
  }
}

/// Both channels of a link, if there is one.
void Channels::kill(const Link& link) {
  const auto other = topology_.neighbour(link.node, link.dimension, link.hop);
  if (!other) return;
  table_.kill(link.node, link.dimension, link.hop);
  table_.kill(*other, link.dimension, topology_.reverse(link.dimension, link.hop));
}

bool Channels::drop_over_dead(ClaimList& list) const {
  bool all = true;
  std::size_t channel = 0;
  for (Claim& each : list.claims()) {
    bool dead = false;
    if (each.message == nullptr) {  // the border has it
      channel = each.channels_end;
      continue;
    }
    for (; channel < each.channels_end; ++channel) dead |= list.channels()[channel]->dead();
    if (!dead) continue;
    each.message = nullptr;
    all = false;
  }
  return all;
}

ChannelUse Channels::use(unsigned part, unsigned parts) {
  ChannelUse use;
  table_.each_of_part(part, parts, [this, &use](const ChannelEntry& entry) {
    use.used += table_.used(entry) ? 1U : 0U;
    use.bytes += entry.bytes();
    use.most_bytes = std::max(use.most_bytes, entry.bytes());
  });
  return use;
}

std::uint32_t Channels::long_hop_slot(Leg leg) const noexcept {
  if (leg.dimension < 0 || leg.dimension >= topology_.dimensions() || topology_.wiring(leg.dimension) != Wiring::complete) return no_slot;
  if (leg.hops < 1 || leg.hops >= topology_.extent(leg.dimension)) return no_slot;
  return static_cast<std::uint32_t>(topology_.slot(leg.dimension, leg.hops));
}

Path Channels::walk_apart(NodeId from, RouteView route, CrossedChannels& crossed) {
  const std::uint32_t out = packet_ && route.size() == 1 ? out_slot(route[0]) : no_slot;
  if (out == no_slot) return walk(from, route, crossed);
  ChannelEntry& channel = of_node(from)[out];
  if (channel.to == no_node) return {from, 0, 0, false, false};
  ChannelEntry** const room = crossed.room_for(1);
  *room = &channel;
  crossed.append(room + 1);
  return {channel.to, 1, out, true, false};
}

RouteView Channels::without_idle_legs(RouteView route, std::vector<Leg>& scratch) const {
  const auto moves = [this](const Leg& leg) { return leg.hops != 0 || static_cast<std::uint32_t>(leg.dimension) >= dimensions_; };
  if (std::all_of(route.begin(), route.end(), moves)) return route;
  scratch.clear();
  std::copy_if(route.begin(), route.end(), std::back_inserter(scratch), moves);
  return scratch;
}

bool Channels::crosses_twice(std::span<ChannelEntry* const> crossed) {
  std::vector<const ChannelEntry*> channels(crossed.begin(), crossed.end());
  std::sort(channels.begin(), channels.end(), std::less<>());
  return std::adjacent_find(channels.begin(), channels.end()) != channels.end();
}

SharedLoad Channels::share(std::span<const Message* const> messages, std::uint32_t stamp) {
  SharedLoad most;
  for (const Message* m : messages) {
    table_.each_own(m->source(), m->route(), [&](ChannelEntry& entry) {
      const std::size_t i = table_.index_of(entry);
      if (entry.stamp != stamp) shared_messages_[i] = shared_bytes_[i] = 0;
      entry.stamp = stamp;
      entry.carry(m->bytes());
      most.messages = std::max(most.messages, ++shared_messages_[i]);
      most.bytes = std::max(most.bytes, shared_bytes_[i] += m->bytes());
    });
  }
  return most;
}

}  // namespace torus::detail
