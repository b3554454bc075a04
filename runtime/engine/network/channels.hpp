/// All channels of the machine: routes over them, claims to them, and what they carry.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <torus/inline_vector.hpp>
#include <torus/machine.hpp>
#include <torus/message.hpp>
#include <torus/result.hpp>
#include <torus/route.hpp>

#include "runtime/engine/network/channel_table.hpp"

namespace torus::detail {

/// Channels in the order in which messages cross them.
class CrossedChannels {
 public:
  std::size_t size() const noexcept { return static_cast<std::size_t>(end_ - room_.get()); }
  ChannelEntry* operator[](std::size_t i) const noexcept { return room_[i]; }
  std::span<ChannelEntry* const> last(std::size_t count) const noexcept { return {end_ - count, count}; }
  /// Where to write the next channels, at most `most`. append() then keeps those before an end.
  ChannelEntry** room_for(std::size_t most) {
    if (static_cast<std::size_t>(limit_ - end_) < most) [[unlikely]]
      grow(most);
    return end_;
  }
  void append(ChannelEntry** end) noexcept {
    TORUS_ASSERT(end >= end_ && end <= limit_);
    end_ = end;
  }
  /// Forgets all but the first.
  void truncate(std::size_t size) noexcept {
    TORUS_ASSERT(size <= this->size());
    end_ = room_.get() + size;
  }

 private:
  [[gnu::cold, gnu::noinline]] void grow(std::size_t most);

  std::unique_ptr<ChannelEntry*[]> room_;
  ChannelEntry** end_ = nullptr;
  ChannelEntry** limit_ = nullptr;
};

/// A message that is complete, except that its channels are not claimed.
struct Claim {
  Message* message;          ///< null once a channel has been refused
  std::uint32_t in_slot;     ///< at the receiver
  std::size_t channels_end;  ///< end of its channels in the list; they begin at the end of the message before
};

/// A worker's messages whose channels are still to be claimed. Meanwhile their entries are prefetched.
class ClaimList {
 public:
  static constexpr std::size_t max_messages = 64;
  static constexpr std::size_t max_channels = std::size_t{1} << 16U;  // where routes are long, fewer messages

  CrossedChannels& channels() noexcept { return channels_; }
  std::span<Claim> claims() noexcept { return {claims_.begin(), claims_.size()}; }
  bool empty() const noexcept { return claims_.empty(); }
  /// Adds a message that crosses all channels appended since the last one. False if it leaves no room for another.
  [[gnu::always_inline]] bool add(Message& m, std::uint32_t in_slot) {
    claims_.push_back({&m, in_slot, channels_.size()});
    return claims_.size() < max_messages && channels_.size() <= max_channels;
  }
  /// Forgets channels appended since the last message.
  void forget_last_route() noexcept { channels_.truncate(claims_.empty() ? 0 : claims_.back().channels_end); }
  void clear() noexcept {
    claims_.clear();
    channels_.truncate(0);
  }

 private:
  InlineVector<Claim, max_messages> claims_;
  CrossedChannels channels_;
};

/// Where a route leads.
struct Path {
  NodeId destination = 0;
  std::uint32_t hops = 0;
  std::uint32_t in_slot = 0;  ///< of the destination
  bool legal = false;
  bool idle_leg = false;  ///< the route has a leg of 0 hops
};

/// Channels of a run that have carried something.
struct ChannelUse {
  std::uint64_t used = 0;
  Bytes bytes = 0;       ///< sum over all channels
  Bytes most_bytes = 0;  ///< of the busiest channel

  void add(const ChannelUse& more) noexcept {
    used += more.used;
    bytes += more.bytes;
    most_bytes = std::max(most_bytes, more.most_bytes);
  }
};

/// The most that one shared channel carried in a step.
struct SharedLoad {
  std::uint64_t messages = 0;
  Bytes bytes = 0;
};

/// A dead channel is marked in its entry. A slow one carries bytes as any other: the ledger charges for it.
class Channels {
 public:
  static constexpr std::uint32_t no_slot = 0xffffffff;

  /// For the nodes of a slab. Both must outlive this.
  Channels(const Machine& machine, const Slab& own);

  void make(unsigned part, unsigned parts) { table_.make(part, parts); }
  /// Marks the dead channels, once all parts are made.
  void made();
  /// Forgets what part `part` of `parts` of the channels have carried, for worker `part`.
  void clear(unsigned part, unsigned parts) noexcept { table_.clear(part, parts); }
  ChannelUse use(unsigned part, unsigned parts);
  bool shared() const noexcept { return shared_; }
  /// True if every route in the machine is legal and all its channels belong to the slab.
  bool whole() const noexcept { return whole_; }
  /// Calls f(entry) for each channel of a message's route that is the slab's, in order.
  template <class F>
  void each_own(const Message& m, F&& f) noexcept {
    table_.each_own(m.source(), m.route(), f);
  }

  // ---- own channels of a node, under packet switching ----

  ChannelEntry* of_node(NodeId node) noexcept { return table_.of_node(node); }
  [[gnu::always_inline]] void prefetch(NodeId node) const noexcept { table_.prefetch(node); }
  /// The slot of the channel that a hop of +1 or -1 takes; no_slot if the leg is no such hop. A line may end before the channel.
  [[gnu::always_inline]] inline std::uint32_t hop_slot(Dimension dimension, std::int32_t hops) const noexcept {
    const auto row = static_cast<std::uint32_t>(dimension);
    const auto column = static_cast<std::uint32_t>(hops) + 1;  // of any hops without overflow
    return column < 3 && row < max_dimensions ? hop_slots_[4 * row + column] : no_slot;
  }
  /// The slot of the channel that any single hop takes.
  std::uint32_t out_slot(Leg leg) const noexcept {
    const std::uint32_t slot = hop_slot(leg.dimension, leg.hops);
    return slot != no_slot ? slot : long_hop_slot(leg);
  }

  // ---- routes ----

  /// Walks one leg from a node and appends its channels, which are prefetched. Not legal if the machine has no such leg.
  [[gnu::always_inline]] inline Path walk_leg(NodeId from, Leg leg, CrossedChannels& crossed);
  /// Walks a route of any legs. Not legal if check_route() finds a violation; the auditor names it. Ends at a leg of 0 hops, which the
  /// caller removes.
  [[gnu::always_inline]] inline Path walk(NodeId from, RouteView route, CrossedChannels& crossed);
  /// Like walk(), out of line. A single hop under packet switching takes a shortcut.
  Path walk_apart(NodeId from, RouteView route, CrossedChannels& crossed);
  /// The route without legs of 0 hops. Those of unknown dimensions stay, for the auditor.
  RouteView without_idle_legs(RouteView route, std::vector<Leg>& scratch) const;

  // ---- claims ----

  /// Claims the channels of all messages in a list, for the step of a stamp. Drops the messages that are refused a channel; false if there
  /// are any. exclusive: no other worker runs nodes in this step.
  [[gnu::always_inline]] inline bool claim(ClaimList& list, std::uint32_t worker, std::uint32_t stamp, bool exclusive);
  /// Drops the messages that cross a dead channel, before any channel is claimed; false if there are any.
  bool drop_over_dead(ClaimList& list) const;
  /// Sums what the slab's shared channels carried in the step of a stamp. One thread.
  SharedLoad share(std::span<const Message* const> messages, std::uint32_t stamp);

 private:
  void kill(const Link& link);
  std::uint32_t long_hop_slot(Leg leg) const noexcept;
  static bool crosses_twice(std::span<ChannelEntry* const> crossed);
  template <class F>
  static bool claim_each(ClaimList& list, F&& claim);

  const Topology& topology_;
  const std::uint32_t dimensions_;
  const bool packet_;
  const bool ordered_;  // routes take the dimensions in the machine's order
  const bool shared_;
  const bool whole_;                                          // no channel is dead, and the slab has them all
  std::size_t longest_leg_ = 1;                               // channels
  std::array<std::int32_t, max_dimensions> routing_order_{};  // by dimension: its position in the machine's routing order
  std::array<std::uint32_t, 4 * max_dimensions> hop_slots_;   // 4 a dimension: the channel slots of hops -1, 0, +1
  ChannelTable table_;
  Region<std::uint64_t> shared_messages_, shared_bytes_;  // of the present step, where channels are shared
};

inline Path Channels::walk_leg(NodeId from, Leg leg, CrossedChannels& crossed) {
  if (static_cast<std::uint32_t>(leg.dimension) >= dimensions_ || leg.hops == 0) [[unlikely]]
    return {};
  ChannelEntry** const first = crossed.room_for(longest_leg_);
  ChannelEntry** next = first;
  const ChannelTable::End end = table_.walk(from, leg, [&next](ChannelEntry& entry) {
    __builtin_prefetch(&entry, 1);
    *next++ = &entry;
  });
  if (end.node == no_node) return {};
  crossed.append(next);
  return {end.node, static_cast<std::uint32_t>(next - first), end.slot, true, false};
}

inline Path Channels::walk(NodeId from, RouteView route, CrossedChannels& crossed) {
  Path path{from, 0, 0, false, false};
  std::int32_t last = -1;
  for (const Leg& leg : route) {
    const auto d = static_cast<std::uint32_t>(leg.dimension);
    if (d >= dimensions_) return path;
    path.idle_leg = leg.hops == 0;
    if (path.idle_leg || (ordered_ && routing_order_[d] <= last)) [[unlikely]]
      return path;
    last = routing_order_[d];
    const Path part = walk_leg(path.destination, leg, crossed);
    if (!part.legal) return path;
    path.hops += part.hops;
    path.destination = part.destination;
    path.in_slot = part.in_slot;
  }
  if (path.hops == 0 || (packet_ && path.hops > 1)) return path;
  // Where channels are not shared, claims find that out.
  if (shared_ && !ordered_ && route.size() > 1 && crosses_twice(crossed.last(path.hops))) return path;
  path.legal = true;
  return path;
}

template <class F>
bool Channels::claim_each(ClaimList& list, F&& claim) {
  bool all = true;
  std::size_t channel = 0;
  const CrossedChannels& channels = list.channels();
  for (Claim& each : list.claims()) {
    if (each.message == nullptr) {
      channel = each.channels_end;
      continue;
    }
    bool free = true;
    const Bytes bytes = each.message->bytes();
    for (; channel < each.channels_end; ++channel) free &= claim(*channels[channel], bytes);
    if (free) continue;
    each.message = nullptr;
    all = false;
  }
  return all;
}

inline bool Channels::claim(ClaimList& list, std::uint32_t worker, std::uint32_t stamp, bool exclusive) {
  if (packet_ || exclusive)
    return claim_each(list, [stamp](ChannelEntry& entry, Bytes bytes) { return ChannelTable::claim_own(entry, stamp, bytes); });
  const bool bid = claim_each(list, [=](ChannelEntry& entry, Bytes) { return entry.bid(worker, stamp); });
  ChannelEntry::bids_made();
  const bool won = claim_each(list, [=](ChannelEntry& entry, Bytes bytes) { return entry.win(worker, stamp, bytes); });
  return bid && won;
}

}  // namespace torus::detail
