/// The policies of a send, and the sends of one block that combine them, inlined for each of the few combinations.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/engine/network/inbox.hpp"
#include "runtime/engine/network/outbox.hpp"

namespace torus::detail::outbox {

[[gnu::always_inline]] inline void count_further_hops(Tally& tally, std::uint32_t hops, Bytes bytes) {
  if (hops <= 1) return;
  tally.further_hops += hops - 1;
  tally.further_bytes_hops += bytes * (hops - 1);
  tally.step.longest_route = std::max(tally.step.longest_route, hops);
}

[[gnu::always_inline]] inline void prefetch_delivery(const RunState& run, const Worker& w, const Path& path) {
  run.links.prefetch_push(path.destination, path.in_slot);
  w.out.next_active->prefetch(path.destination);
}

// ---- how the channels of a message are claimed ----
//
// walk() finds where the message goes, claim() claims what must be claimed at once. Both are false if the machine forbids the message.
// write(), digest() and count() follow. A digest is of words in registers where it can be: a read of words just written in pieces waits for
// the store buffer.

/// Claims one hop over a channel that only this worker can claim: now.
struct OwnHop {
  Leg leg;
  std::uint32_t slot;  // of the channel, at both ends
  NodeId destination = 0;

  bool walk(RunState&, Worker&) const noexcept { return slot != Channels::no_slot; }
  [[gnu::always_inline]] bool claim(RunState& run, Worker& w) noexcept {
    ChannelEntry& channel = w.node.out_channels[slot];
    if (!ChannelTable::claim_own(channel, run.stamp, run.block_bytes)) return false;
    destination = channel.to;
    return true;
  }
  std::uint32_t in_slot() const noexcept { return slot; }
  Bytes payload(const RunState& run, BlockId) const noexcept { return run.block_bytes; }
  [[gnu::always_inline]] Message& write(RunState& run, Worker& w, BlockId id) const {
    return w.out.arena->write_one(w.node.step_and_source, destination, run.block_bytes, id, MessageArena::word_of(leg));
  }
  [[gnu::always_inline]] std::uint64_t digest(const RunState& run, const Worker& w, const Message&, BlockId id) const noexcept {
    return digest_of_one(w.node.step_and_source, run.block_bytes, MessageArena::word_of(leg), id);
  }
  void count(RunState&, Worker& w) const noexcept { ++w.tally.single_blocks; }
};

/// Claims one leg of any length: later. It stays in registers.
struct OneLeg {
  Leg leg;
  Path path = {};

  [[gnu::always_inline]] bool walk(RunState& run, Worker& w) {
    path = run.channels.walk_leg(w.node.rank(), leg, w.out.claims.channels());
    return path.legal;
  }
  [[gnu::always_inline]] bool claim(RunState& run, Worker& w) const {
    prefetch_delivery(run, w, path);
    return true;
  }
  std::uint32_t in_slot() const noexcept { return path.in_slot; }
  Bytes payload(const RunState& run, BlockId) const noexcept { return run.block_bytes; }
  [[gnu::always_inline]] Message& write(RunState& run, Worker& w, BlockId id) const {
    return w.out.arena->write_one(w.node.step_and_source, path.destination, run.block_bytes, id, MessageArena::word_of(leg));
  }
  [[gnu::always_inline]] std::uint64_t digest(const RunState& run, const Worker& w, const Message&, BlockId id) const noexcept {
    return digest_of_one(w.node.step_and_source, run.block_bytes, MessageArena::word_of(leg), id);
  }
  void count(RunState& run, Worker& w) const noexcept {
    w.findings.bundled = true;
    ++w.tally.single_blocks;
    count_further_hops(w.tally, path.hops, run.block_bytes);
  }
};

/// Claims any route: later.
struct AnyRoute {
  RouteView route;
  std::span<const Word> header;
  Path path = {};
  Bytes bytes = 0;  // of the message, once it is written

  [[gnu::always_inline]] bool walk(RunState& run, Worker& w) {
    return walked(run, w, run.channels.walk(w.node.rank(), route, w.out.claims.channels()));
  }
  /// Like walk(), out of line, for messages of several blocks.
  bool walk_apart(RunState& run, Worker& w) {
    return walked(run, w, run.channels.walk_apart(w.node.rank(), route, w.out.claims.channels()));
  }
  [[gnu::always_inline]] bool walked(RunState& run, Worker& w, const Path& found) {
    path = found;
    if (path.idle_leg) [[unlikely]] {
      w.out.claims.forget_last_route();
      route = run.channels.without_idle_legs(route, w.out.legs);
      path = run.channels.walk_apart(w.node.rank(), route, w.out.claims.channels());
    }
    if (path.legal) prefetch_delivery(run, w, path);
    return path.legal;
  }
  bool claim(RunState&, Worker&) const noexcept { return true; }
  std::uint32_t in_slot() const noexcept { return path.in_slot; }
  Bytes payload(const RunState& run, BlockId id) const noexcept { return run.bytes_of(id); }
  [[gnu::always_inline]] Message& write(RunState& run, Worker& w, BlockId id) { return write(w, {&id, 1}, run.bytes_of(id)); }
  [[gnu::always_inline]] Message& write(Worker& w, std::span<const BlockId> blocks, Bytes payload) {
    bytes = payload + sizeof(Word) * header.size();
    Message& m = w.out.arena->write(w.node.step_and_source, path.destination, bytes, route, blocks, header);
    if (!w.out.kept_route.empty()) [[unlikely]]
      w.out.arena->keep(m, w.out.kept_route);
    return m;
  }
  [[gnu::always_inline]] std::uint64_t digest(const RunState&, const Worker& w, const Message& m, BlockId id) const noexcept {
    return route.size() == 1 ? digest_of_one(w.node.step_and_source, bytes, MessageArena::word_of(route[0]), id) : MessageArena::digest(m);
  }
  void count(RunState&, Worker& w, std::size_t blocks = 1) const noexcept {
    if (blocks != 1 || route.size() != 1 || !header.empty() || path.hops > 1) w.findings.bundled = true;
    Tally& tally = w.tally;
    ++tally.step.messages;
    tally.step.bytes += bytes;
    tally.step.most_bytes = std::max(tally.step.most_bytes, bytes);
    count_further_hops(tally, path.hops, bytes);
    tally.header_words += header.size();
    tally.blocks += blocks;
  }
};

// ---- where a block is, and whether its node keeps it ----
//
// find() sets slot and bucket; false if the block is not there. release() takes the block away from the node.

/// In a message that has brought it alone. Its node releases it.
struct JustArrived {
  static constexpr bool kept = false;
  Message& brought;
  Slot slot = 0;
  std::uint32_t bucket = 0;

  bool find(RunState&, Worker&, BlockId) noexcept {
    slot = MessageArena::only_slot(brought);
    return slot != 0;
  }
  void release(RunState&, Worker&) noexcept {
    bucket = MessageArena::first_bucket(brought);
    MessageArena::only_slot(brought) = 0;
  }
};

/// In the node's table.
template <bool keeps>
struct InTable {
  static constexpr bool kept = keeps;
  Slot slot = 0;
  std::uint32_t bucket = 0;
  Slot* link = nullptr;

  [[gnu::always_inline]] bool find(RunState& run, Worker& w, BlockId id) {
    inbox::store_arrivals(run, w);
    bucket = run.placement.bucket(id);
    if (bucket == Placement::no_bucket) return false;
    link = run.payload.tables.link_to(w.node.rank(), bucket, id);
    slot = *link;
    return slot != 0;
  }
  void release(RunState& run, Worker& w) {
    make_copies(run, w);
    run.payload.tables.take_away(link);
  }
};

// ---- what all of them need ----

/// Copies a block that its sender keeps to a new slot, the receiver's: at once, or a few sends later if it is long.
[[gnu::always_inline]] inline Slot copy_kept(RunState& run, Worker& w, Slot from, Bytes bytes) {
  Payload& payload = run.payload;
  if (!payload.copier.puts_off(bytes) || run.payload_exposed.load(std::memory_order_relaxed))
    return payload.copy_to_new(*w.free_slots, from, bytes);
  const Slot to = payload.take(*w.free_slots, bytes);
  payload.copier.put_off(w.out.copies, {from, to, bytes});
  return to;
}

/// Queues a block that post_forwards() will copy and post.
[[gnu::always_inline]] inline void add_forward(RunState& run, Worker& w, const OwnHop& way, BlockId id, std::uint32_t bucket, Slot from) {
  TORUS_ASSERT(!w.out.forwards_full());
  ExclusiveLinks& links = run.links.exclusive();
  const std::size_t in_channel = run.links.channel(way.destination, way.slot);
  links.prefetch(in_channel);
  std::byte* const bytes = run.payload.slots.at(from);
  __builtin_prefetch(bytes, 1);
  PendingForward& p = *w.out.forwards_end++;
  p.from = bytes;
  p.queue = links.queue(in_channel);
  p.out = way.slot;
  p.message.fill(w.node.step_and_source, way.destination, id, MessageArena::word_of(way.leg), bucket, from);
}

/// Adds a message that is complete, except that its channels are not claimed.
[[gnu::always_inline]] inline void add_claim(RunState& run, Worker& w, Message& m, std::uint32_t in_slot) {
  if (!w.out.claims.add(m, in_slot)) post_claims(run, w);
}

// ---- one block ----

/// False, and nothing changed except that channels were walked, if the block is not there or the machine forbids the message.
template <class Source, class Way>
[[gnu::always_inline]] inline bool send_single(RunState& run, Worker& w, Source source, Way way, BlockId id) {
  if (!way.walk(run, w) || !source.find(run, w, id) || !way.claim(run, w)) [[unlikely]]
    return false;
  if constexpr (Source::kept) {
    Message& m = way.write(run, w, id);
    MessageArena::first_bucket(m) = source.bucket;
    MessageArena::only_slot(m) = copy_kept(run, w, source.slot, way.payload(run, id));
    w.findings.copied = true;
    w.tally.digest += way.digest(run, w, m, id);
    way.count(run, w);
    add_claim(run, w, m, way.in_slot());
  } else {
    source.release(run, w);
    add_forward(run, w, way, id, source.bucket, source.slot);
  }
  return true;
}

// ---- what nodes call ----

inline void use_port(Worker& w) noexcept {
  if (--w.node.ports_left < 0) [[unlikely]]
    w.findings.suspect = true;
}

// For each way, one block that its node keeps; and one from anywhere that it releases.
void send_own_hop(RunState& run, Worker& w, Dimension dimension, std::int32_t hops, BlockId id);
void send_leg(RunState& run, Worker& w, Dimension dimension, std::int32_t hops, BlockId id);
void send_kept(RunState& run, Worker& w, RouteView route, BlockId id, std::span<const Word> header);
void forward_found(RunState& run, Worker& w, Dimension dimension, std::int32_t hops, BlockId id);

[[gnu::always_inline]] inline void send_block(RunState& run, Worker& w, Dimension dimension, std::int32_t hops, BlockId block) {
  use_port(w);
  if (run.straight_legs) return send_leg(run, w, dimension, hops, block);
  if (run.own_hops) return send_own_hop(run, w, dimension, hops, block);
  const Leg leg{dimension, hops};
  send_kept(run, w, {&leg, 1}, block, {});
}

/// The hot path of total exchanges: a block that has just arrived leaves again, in the order in which blocks arrived. slot(): the hop's.
template <class Slot>
[[gnu::always_inline]] inline void forward_hop(RunState& run, Worker& w, Dimension dimension, std::int32_t hops, BlockId block, Slot slot) {
  use_port(w);
  Message& next = **w.node.next;
  const OwnHop way{{dimension, hops}, slot()};
  if (MessageArena::only_block(next) != block || !send_single(run, w, JustArrived{next}, way, block)) [[unlikely]]
    return forward_found(run, w, dimension, hops, block);
  ++w.node.next;
  if (w.out.forwards_full()) post_forwards(run, w);
}
[[gnu::always_inline]] inline void forward_block(RunState& run, Worker& w, Dimension dimension, std::int32_t hops, BlockId block) {
  forward_hop(run, w, dimension, hops, block, [&] { return run.channels.hop_slot(dimension, hops); });
}

}  // namespace torus::detail::outbox
