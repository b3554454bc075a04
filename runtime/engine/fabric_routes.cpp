/// Messages over any route: the channels that they cross, the blocks that they bring, and their posting.
#include <algorithm>
#include <functional>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "runtime/engine/fabric.hpp"

namespace torus::detail {
namespace {

/// Whether a channel is among those of a route twice.
[[gnu::noinline]] bool crosses_twice(std::span<ChannelEntry* const> crossed) {
  std::vector<const ChannelEntry*> channels(crossed.begin(), crossed.end());
  std::sort(channels.begin(), channels.end(), std::less<>());
  return std::adjacent_find(channels.begin(), channels.end()) != channels.end();
}

/// Calls claim(channel, bytes) for the channels of all messages that wait for theirs, and forgets those that are refused one.
template <class F>
void claim_each(Worker& w, F&& claim) {
  std::size_t channel = 0;
  for (Sent& sent : w.sent) {
    if (sent.message == nullptr) {
      channel = sent.channels_end;
      continue;
    }
    bool free = true;
    const Bytes bytes = sent.message->bytes();
    for (; channel < sent.channels_end; ++channel) free &= claim(*w.channels[channel], bytes);
    if (free) continue;
    sent.message = nullptr;
    w.suspect = true;
  }
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

/// The route without legs of 0 hops; those of dimensions that there are not stay, for the auditor.
RouteView Fabric::moving_legs(RouteView route, std::vector<Leg>& scratch) const {
  scratch.clear();
  std::copy_if(route.begin(), route.end(), std::back_inserter(scratch), [this](const Leg& leg) { return !idle(leg); });
  return scratch;
}

/// Walks any route and notes its channels, which are fetched from memory while the blocks are copied. Not legal if check_route() finds an
/// offence; which one is for the auditor to say. Ends at a leg of 0 hops: what such a route means is that without it.
[[gnu::always_inline]] inline Fabric::Path Fabric::follow(Worker& w, NodeId source, RouteView legs) {
  Path path{source, 0, 0, false, false};
  std::int32_t last_turn = -1;
  for (const Leg& leg : legs) {
    const auto d = static_cast<std::uint32_t>(leg.dimension);
    if (d >= dimensions_) return path;
    path.idle_leg = leg.hops == 0;
    if (path.idle_leg || (ordered_ && turns_[d] <= last_turn)) [[unlikely]]
      return path;
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
  expect_delivery(w, path.destination, path.in_slot);
  path.legal = true;
  return path;
}

/// One hop or any route, whatever is asked for.
[[gnu::noinline]] Fabric::Path Fabric::follow_any(Worker& w, NodeId source, RouteView legs) {
  return packet_ && legs.size() == 1 ? follow_hop(w, source, legs[0]) : follow(w, source, legs);
}

Bytes Fabric::payload_of(std::span<const BlockId> blocks) const noexcept {
  if (placement_.uniform()) return block_bytes_ * blocks.size();
  Bytes payload = 0;
  for (const BlockId id : blocks) payload += placement_.bytes(id);
  return payload;
}

/// Of a message over so many channels, those beyond the first.
[[gnu::always_inline]] inline void Fabric::count_further_hops(Worker& w, std::uint32_t hops, Bytes bytes) {
  if (hops <= 1) return;
  w.further_hops += hops - 1;
  w.further_bytes_hops += bytes * (hops - 1);
  w.step.longest_route = std::max(w.step.longest_route, hops);
}

[[gnu::always_inline]] inline void Fabric::count(Worker& w, const Path& path, Bytes bytes, std::size_t blocks, std::size_t header_words) {
  w.step.messages += 1;
  w.step.bytes += bytes;
  w.step.most_bytes = std::max(w.step.most_bytes, bytes);
  count_further_hops(w, path.hops, bytes);
  w.header_words += header_words;
  w.blocks += blocks;
}

/// A message is ready but for its claims.
[[gnu::always_inline]] inline void Fabric::note_sent(Worker& w, const Message& m, std::uint32_t in_slot) {
  w.sent.push_back({&m, in_slot, w.channels.size()});
  if (w.sent.size() == Worker::sent_at_once || w.channels.size() > Worker::channels_at_once) post(w);
}

/// One block that its sender keeps, over any route: all that a broadcast sends.
[[gnu::noinline]] void Fabric::send_kept(Worker& w, NodeId source, RouteView route, BlockId id, std::span<const Word> header) {
  const std::size_t channels = w.channels.size();
  const Path path = follow(w, source, route);
  settle(w);
  const std::uint32_t bucket = placement_.bucket(id);
  const Slot from = bucket == Placement::no_bucket ? 0 : store_.find_at(source, bucket, id);
  if (!path.legal || from == 0) [[unlikely]] {
    w.channels.cut(channels);
    return send_any(w, source, route, {&id, 1}, header, false);
  }
  const Bytes payload = bytes_of(id);
  const Bytes bytes = payload + sizeof(Word) * header.size();
  Message& m = *w.arena->allocate(w.step_and_source, path.destination, bytes, route, {&id, 1}, header);
  MessageArena::first_bucket(m) = bucket;
  MessageArena::only_slot(m) = copy_kept(w, from, payload);
  w.bundled = w.copied = true;
  count(w, path, bytes, 1, header.size());
  w.digest +=
      route.size() == 1 ? MessageArena::digest_one(w.step_and_source, bytes, id, MessageArena::word_of(route[0])) : MessageArena::digest(m);
  note_sent(w, m, path.in_slot);
}

/// The same straight on and without a header, where blocks are equally long: most of what a broadcast sends. The leg stays in registers.
[[gnu::noinline]] void Fabric::send_straight(Worker& w, Dimension dimension, std::int32_t hops, BlockId id) {
  if (static_cast<std::uint32_t>(dimension) >= dimensions_ || hops == 0) [[unlikely]]
    return send_leg(w, dimension, hops, id);
  ChannelEntry** const first = w.channels.room_for(longest_leg_);
  ChannelEntry** crossed = first;
  const ChannelTable::End end = channels_.walk(w.rank(), {dimension, hops}, [&crossed](ChannelEntry& entry) {
    __builtin_prefetch(&entry, 1);
    *crossed++ = &entry;
  });
  settle(w);
  const std::uint32_t bucket = placement_.bucket(id);
  const Slot from = bucket == Placement::no_bucket ? 0 : store_.find_at(w.rank(), bucket, id);
  if (end.node == no_node || from == 0) [[unlikely]]
    return send_leg(w, dimension, hops, id);
  w.channels.take(crossed);
  expect_delivery(w, end.node, end.slot);
  const std::uint64_t leg = MessageArena::word_of({dimension, hops});
  Message& m = *w.arena->allocate_one(w.step_and_source, end.node, block_bytes_, id, leg);
  MessageArena::first_bucket(m) = bucket;
  MessageArena::only_slot(m) = copy_kept(w, from, block_bytes_);
  w.bundled = w.copied = true;
  ++w.single_blocks;
  count_further_hops(w, static_cast<std::uint32_t>(crossed - first), block_bytes_);
  w.digest += MessageArena::digest_one(w.step_and_source, block_bytes_, id, leg);
  note_sent(w, m, end.slot);
}

/// The same of any blocks on any machine, and of what is not allowed.
[[gnu::noinline]] void Fabric::send_leg(Worker& w, Dimension dimension, std::int32_t hops, BlockId id) {
  const Leg leg{dimension, hops};
  send_kept(w, w.rank(), {&leg, 1}, id, {});
}

/// Any message.
[[gnu::noinline]] void Fabric::send_any(Worker& w, NodeId source, RouteView route, std::span<const BlockId> blocks,
                                        std::span<const Word> header, bool release) {
  const Bytes bytes = payload_of(blocks) + sizeof(Word) * header.size();
  const std::size_t channels = w.channels.size();
  Path path = follow_any(w, source, route);
  if (path.idle_leg) [[unlikely]] {
    w.channels.cut(channels);
    route = moving_legs(route, w.legs);
    path = follow_any(w, source, route);
  }
  Message& m = *w.arena->allocate(w.step_and_source, path.destination, bytes, route, blocks, header);
  if (!path.legal) w.suspect = true;
  if (blocks.size() != 1) MessageArena::passed(m) = 0;
  w.bundled = true;
  if (!blocks.empty() && !release) w.copied = true;
  Slot* const slots = MessageArena::slots(m);
  if (!blocks.empty()) MessageArena::first_bucket(m) = placement_.bucket(blocks.front());
  if (Slot* const arrived = release && path.legal ? take_just_arrived(w, blocks) : nullptr; arrived != nullptr) {
    copy_all(w, blocks, arrived, slots, true);
    *arrived = 0;
  } else {
    settle(w);
    if (!find_all(w, source, blocks, slots, release && path.legal) || !path.legal) return w.channels.cut(channels);
    copy_all(w, blocks, slots, slots, release);
  }
  if (blocks.empty()) ++w.step.control_messages;
  count(w, path, bytes, blocks.size(), header.size());
  w.digest += MessageArena::digest(m);
  note_sent(w, m, path.in_slot);
}

/// Writes to the message where the sender holds the blocks, and takes them away from it if it releases them; false, with a violation, if it
/// does not hold one of them.
bool Fabric::find_all(Worker& w, NodeId source, std::span<const BlockId> blocks, Slot* slots, bool release) {
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    slots[i] = release ? store_.take_away(source, blocks[i]) : store_.find(source, blocks[i]);
    if (slots[i] != 0) continue;
    not_held(w, blocks[i]);
    return false;
  }
  return true;
}

/// Copies blocks to new slots, the receiver's; frees those they were in if they are released. `to` may be `from`.
void Fabric::copy_all(Worker& w, std::span<const BlockId> blocks, const Slot* from, Slot* to, bool release) {
  BlockStore::Stock& stock = *w.stock;
  if (release) make_copies(w);
  if (release && store_.one_line_each() && !blocks.empty()) return move_lines(stock, {from, blocks.size()}, to);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (i + far_ahead < blocks.size()) store_.prefetch_far(from[i + far_ahead]);
    if (i + near_ahead < blocks.size()) store_.prefetch(from[i + near_ahead]);
    const Bytes bytes = bytes_of(blocks[i]);
    to[i] = release ? store_.copy_and_give_back(stock, from[i], bytes) : copy_kept(w, from[i], bytes);
  }
}

/// The same of blocks with a cache line each that are released: each copy goes to the slot that the copy before it has left.
void Fabric::move_lines(BlockStore::Stock& stock, std::span<const Slot> from, Slot* to) {
  Slot spare = store_.take(stock);
  std::byte* target = store_.at(spare);
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (i + far_ahead < from.size()) store_.prefetch_far(from[i + far_ahead]);
    if (i + near_ahead < from.size()) store_.prefetch(from[i + near_ahead]);
    const Slot slot = from[i];
    std::byte* const source = store_.at(slot);
    BlockStore::copy_line(target, source);
    target = source;
    to[i] = std::exchange(spare, slot);
  }
  store_.give_back(stock, spare);
}

/// Claims the channels of the messages sent since the last call. By then the channels are in the cache.
[[gnu::always_inline]] inline void Fabric::claim(Worker& w) const {
  if (packet_ || alone_)
    return claim_each(w, [now = stamp_](ChannelEntry& entry, Bytes bytes) { return ChannelTable::claim_own(entry, now, bytes); });
  claim_each(w, [worker = w.index, now = stamp_](ChannelEntry& entry, Bytes) { return ChannelTable::bid(entry, worker, now); });
  ChannelTable::bids_made();
  claim_each(w,
             [worker = w.index, now = stamp_](ChannelEntry& entry, Bytes bytes) { return ChannelTable::win(entry, worker, now, bytes); });
}

/// Delivers the messages sent since the last call, those that get all their channels. All claims before the first delivery: the fence
/// between bids and looks waits for the stores before it, and those of a delivery go far.
void Fabric::post(Worker& w) {
  if (!shared_) claim(w);
  for (const Sent& sent : w.sent) {
    if (sent.message != nullptr) deliver(w, *sent.message, sent.message->destination(), sent.in_slot);
  }
  w.sent.clear();
  w.channels.cut(0);
}

}  // namespace torus::detail
