#include "runtime/engine/network/outbox.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>

#include "runtime/base/figures.hpp"
#include "runtime/engine/network/outbox_policies.hpp"
#include "runtime/engine/processes/border.hpp"

namespace torus::detail::outbox {
namespace {

// ---- what breaks a rule ----

/// Notes the only violation that the messages of a step do not show: a block sent without being held.
[[gnu::cold, gnu::noinline]] void note_missing(RunState& run, Worker& w, BlockId id) {
  w.findings.suspect = true;
  w.findings.violations.add(ViolationKind::block_not_held, run.now, w.node.rank(), [&] {
    return "node " + node_text(run.machine.topology, w.node.rank()) + run.members.text_of_group(w.node.rank()) + " sends block " +
           std::to_string(id) + ", which it does not hold";
  });
}

Bytes payload_of(const RunState& run, std::span<const BlockId> blocks) noexcept {
  if (run.placement.uniform()) return run.block_bytes * blocks.size();
  Bytes payload = 0;
  for (const BlockId id : blocks) payload += run.placement.bytes(id);
  return payload;
}

/// Whether a block has no bytes, so that any node may send it.
bool is_nothing(const RunState& run, BlockId id) noexcept { return !run.reduces && run.placement.exists(id) && run.placement.empty(id); }

/// Keeps an illegal message for the auditor, which names the rule.
[[gnu::cold, gnu::noinline]] void refuse(RunState& run, Worker& w, RouteView route, std::span<const BlockId> blocks,
                                         std::span<const Word> header) {
  w.findings.suspect = w.node.unstored = true;
  w.out.claims.forget_last_route();
  inbox::store_arrivals(run, w);
  const auto missing = [&](BlockId id) { return run.payload.tables.find(w.node.rank(), id) == 0 && !is_nothing(run, id); };
  if (const auto first = std::find_if(blocks.begin(), blocks.end(), missing); first != blocks.end()) note_missing(run, w, *first);
  const Bytes bytes = payload_of(run, blocks) + sizeof(Word) * header.size();
  route = run.channels.without_idle_legs(route, w.out.legs);
  w.out.arena->write(w.node.step_and_source, w.node.rank(), bytes, route, blocks, header);
}

// ---- any number of blocks ----

/// Gives the sender a slot for a block that it lacks, and if it keeps the block, an entry of its table; false unless it has no bytes.
[[gnu::cold, gnu::noinline]] bool give_nothing(RunState& run, Worker& w, BlockId id, Slot& slot, bool release) {
  if (!is_nothing(run, id)) return false;
  w.findings.copied = true;  // another node holds it
  slot = run.payload.take(*w.free_slots, 0);
  if (!release) run.payload.tables.store(w.node.rank(), id, slot);
  return true;
}

/// Writes to a list where the sender holds the blocks, and takes them away from it if it releases them. False, with a violation, if it does
/// not hold one of them.
[[gnu::noinline]] bool find_all(RunState& run, Worker& w, std::span<const BlockId> blocks, Slot* slots, bool release) {
  NodeTables& tables = run.payload.tables;
  const NodeId rank = w.node.rank();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    slots[i] = release ? tables.take_away(rank, blocks[i]) : tables.find(rank, blocks[i]);
    if (slots[i] != 0 || give_nothing(run, w, blocks[i], slots[i], release)) continue;
    note_missing(run, w, blocks[i]);
    return false;
  }
  return true;
}

/// Does that for partials, whose entries in the table lie in the order of their ids.
[[gnu::noinline]] bool find_partials(RunState& run, Worker& w, std::span<const BlockId> blocks, Slot* slots, bool release) {
  for (std::size_t i = 0; i < blocks.size();) {
    const std::size_t count = consecutive(blocks.subspan(i));
    if (blocks[i] + count > run.placement.buckets()) return find_all(run, w, blocks.subspan(i), slots + i, release);
    const std::span<Slot> links = run.payload.tables.links_to(w.node.rank(), blocks[i], count);
    if (any_zero(links)) return find_all(run, w, blocks.subspan(i), slots + i, release);
    if (count < row) {
      for (Slot& link : links) slots[i++] = release ? std::exchange(link, Slot{0}) : link;
      continue;
    }
    std::copy(links.begin(), links.end(), slots + i);
    if (release) std::fill(links.begin(), links.end(), Slot{0});
    i += count;
  }
  return true;
}

/// Copies released blocks of a cache line each to new slots. Each copy goes to the slot that the copy before it has left.
[[gnu::noinline]] void move_lines(RunState& run, Worker& w, std::span<const Slot> from, Slot* to) {
  SlotPool& slots = run.payload.slots;
  Slot spare = slots.take(*w.free_slots);
  std::byte* target = slots.at(spare);
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (i + inbox::far_ahead < from.size()) slots.prefetch_far(from[i + inbox::far_ahead]);
    if (i + inbox::near_ahead < from.size()) slots.prefetch(from[i + inbox::near_ahead]);
    const Slot slot = from[i];
    std::byte* const source = slots.at(slot);
    Copier::copy_line(target, source);
    target = source;
    to[i] = std::exchange(spare, slot);
  }
  slots.give_back(*w.free_slots, spare);
}

/// Copies blocks to new slots, the receiver's; frees those they were in if they are released. `to` may be `from`.
[[gnu::noinline]] void copy_all(RunState& run, Worker& w, std::span<const BlockId> blocks, const Slot* from, Slot* to, bool release) {
  Payload& payload = run.payload;
  if (release) make_copies(run, w);  // of the released blocks, whose slots are about to be reused
  if (release && payload.copier.one_line_each() && !blocks.empty()) return move_lines(run, w, {from, blocks.size()}, to);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (i + inbox::far_ahead < blocks.size()) payload.slots.prefetch_far(from[i + inbox::far_ahead]);
    if (i + inbox::near_ahead < blocks.size()) payload.slots.prefetch(from[i + inbox::near_ahead]);
    const Bytes bytes = run.bytes_of(blocks[i]);
    to[i] = release ? payload.move_to_new(*w.free_slots, from[i], bytes) : copy_kept(run, w, from[i], bytes);
  }
}

/// Fetches the few partials of a message from `first` on. Its first ones are not fetched: lines of blocks that lie 4 KiB apart would push
/// each other out.
[[gnu::always_inline]] inline void prefetch_few(const RunState& run, std::span<const Slot> slots, std::size_t first) noexcept {
  if (first < slots.size()) run.payload.partials.prefetch(slots.subspan(first, std::min(Partials::few, slots.size() - first)));
}

/// Copies partials with their signatures, adjacent ones at a time.
void copy_batch(RunState& run, std::span<const BlockId> blocks, std::span<const Slot> from, std::span<const Slot> to) noexcept {
  Partials& partials = run.payload.partials;
  for (std::size_t i = 0; i < from.size();) {
    const std::size_t count = partials.side_by_side(from.subspan(i), to.subspan(i));
    partials.copy(to[i], from[i], run.bytes_of(blocks[i]), count);
    i += count;
  }
}

/// Copies released partials, each to the slot that the one before it has left, which is in the cache.
[[gnu::noinline]] void move_partials(RunState& run, Worker& w, std::span<const BlockId> blocks, std::span<Slot> slots) {
  Payload& payload = run.payload;
  make_copies(run, w);
  for (std::size_t i = 0; i < slots.size();) {
    prefetch_few(run, slots, i + Partials::few);
    Slot spare = payload.slots.take(*w.free_slots);
    for (const std::size_t end = std::min(i + Partials::few, slots.size()); i < end; ++i) {
      payload.partials.copy(spare, slots[i], run.bytes_of(blocks[i]), 1);
      spare = std::exchange(slots[i], spare);
    }
    payload.slots.give_back(*w.free_slots, spare);
  }
}

/// Copies partials that a node keeps to new slots.
[[gnu::noinline]] void copy_partials(RunState& run, Worker& w, std::span<const BlockId> blocks, std::span<Slot> slots) {
  Payload& payload = run.payload;
  if (payload.copier.puts_off(run.block_bytes)) {
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const Slot from = std::exchange(slots[i], copy_kept(run, w, slots[i], run.bytes_of(blocks[i])));
      payload.partials.signature(slots[i]) = payload.partials.signature(from);
    }
    return;
  }
  std::array<Slot, Partials::most> room;
  for (std::size_t i = 0; i < slots.size();) {
    const std::size_t in_a_row = payload.partials.row_of(slots.subspan(i));
    const std::size_t count = in_a_row > 0 ? in_a_row : std::min(Partials::few, slots.size() - i);
    prefetch_few(run, slots, i + count);
    const std::span<Slot> from = slots.subspan(i, count), to{room.data(), count};
    payload.slots.take(*w.free_slots, to);
    copy_batch(run, blocks.subspan(i, count), from, to);
    std::copy(to.begin(), to.end(), from.begin());
    i += count;
  }
}

/// Finds consecutive partials that lie in one piece, and takes them away from their node if it releases them. The first of their slots; 0,
/// and nothing taken, if they are not so.
Slot find_row(RunState& run, Worker& w, std::span<const BlockId> blocks, bool release) noexcept {
  if (blocks.empty() || !all_consecutive(blocks) || blocks[0] + blocks.size() > run.placement.buckets()) return 0;
  const std::span<Slot> links = run.payload.tables.links_to(w.node.rank(), blocks[0], blocks.size());
  const Slot first = links[0];
  if (first == 0 || !run.payload.partials.in_one_piece(links)) return 0;
  if (release) std::fill(links.begin(), links.end(), Slot{0});
  return first;
}

/// Copies such partials to slots of the receiver, if some in a row are at hand. Returns the first; 0, and nothing copied, if there are
/// none.
Slot copy_row(RunState& run, Worker& w, Slot from, Bytes bytes, std::size_t count, bool release) {
  if (run.payload.copier.puts_off(bytes)) return 0;
  const Slot to = run.payload.slots.take_row(*w.free_slots, count);
  if (to == 0) return 0;
  run.payload.partials.copy(to, from, bytes, count);
  if (release) run.payload.slots.give_back(*w.free_slots, from, count);
  return to;
}

/// Puts the partials of a message where its receiver finds them. False, with a violation, if the node does not hold one of them.
bool take_along(RunState& run, Worker& w, Message& m, std::span<const BlockId> blocks, bool release) {
  // Unless they cross a border, the receiver combines released ones straight from the slots in which they are, and gives these back.
  const bool lent = release && m.combines() && run.border == nullptr;
  const std::span<Slot> slots{MessageArena::slots(m), blocks.size()};
  if (const Slot row = run.border == nullptr ? find_row(run, w, blocks, release) : 0; row != 0) {
    const Slot there = lent ? row : copy_row(run, w, row, run.bytes_of(blocks[0]), blocks.size(), release);
    if (there != 0) {
      MessageArena::first_of_row(m) = there;
      return true;
    }
    std::iota(slots.begin(), slots.end(), row);
  } else if (!find_partials(run, w, blocks, slots.data(), release)) {
    return false;
  }
  if (lent) return true;
  if (release)
    move_partials(run, w, blocks, slots);
  else
    copy_partials(run, w, blocks, slots);
  return true;
}

/// A message of a reduction. registers: see Message::registers().
[[gnu::noinline]] void post_partials(RunState& run, Worker& w, RouteView route, std::span<const BlockId> blocks,
                                     std::span<const Word> header, bool release, std::uint8_t registers) {
  AnyRoute way{route, header};
  if (!way.walk_apart(run, w)) return refuse(run, w, route, blocks, header);
  inbox::store_arrivals(run, w);
  Message& m = way.write(w, blocks, payload_of(run, blocks));
  MessageArena::mark(m, registers, release);
  MessageArena::first_of_row(m) = 0;
  if (!take_along(run, w, m, blocks, release)) return w.out.claims.forget_last_route();
  if (!blocks.empty()) MessageArena::first_bucket(m) = run.placement.segment_of(blocks.front());
  if (blocks.empty()) ++w.tally.step.control_messages;
  w.tally.digest += MessageArena::digest(m);
  way.count(run, w, blocks.size());
  add_claim(run, w, m, way.in_slot());
}

[[gnu::noinline]] void send_bundle(RunState& run, Worker& w, RouteView route, std::span<const BlockId> blocks, std::span<const Word> header,
                                   bool release) {
  if (run.reduces) return post_partials(run, w, route, blocks, header, release, 0);
  AnyRoute way{route, header};
  if (!way.walk_apart(run, w)) return refuse(run, w, route, blocks, header);
  Message& m = way.write(w, blocks, payload_of(run, blocks));
  if (blocks.size() != 1) MessageArena::forwarded(m) = 0;
  if (!blocks.empty()) MessageArena::first_bucket(m) = run.placement.bucket(blocks.front());
  Slot* const slots = MessageArena::slots(m);
  if (Slot* const arrived = release ? inbox::take_bundle(run, w, blocks) : nullptr; arrived != nullptr) {
    copy_all(run, w, blocks, arrived, slots, true);
    *arrived = 0;
  } else {
    inbox::store_arrivals(run, w);
    if (!find_all(run, w, blocks, slots, release)) return w.out.claims.forget_last_route();
    copy_all(run, w, blocks, slots, slots, release);
  }
  if (blocks.empty())
    ++w.tally.step.control_messages;
  else if (!release)
    w.findings.copied = true;
  w.tally.digest += MessageArena::digest(m);  // now that the copies have given its stores time
  way.count(run, w, blocks.size());
  add_claim(run, w, m, way.in_slot());
}

/// Whether a hop that found no channel in the slab leads over its border.
[[gnu::cold, gnu::noinline]] bool crosses(const RunState& run, const Worker& w, Leg leg) {
  return run.border != nullptr && run.channels.out_slot(leg) != Channels::no_slot && run.border->leaves(w.node.rank(), leg);
}

/// Sends a block that has just arrived alone over the border. Its bytes are copied where it is packed.
[[gnu::cold, gnu::noinline]] void cross(RunState& run, Worker& w, const OwnHop& way, Message& brought, BlockId id) {
  const std::uint64_t leg = MessageArena::word_of(way.leg);
  const NodeId to = *run.machine.topology.neighbour(w.node.rank(), way.leg.dimension, way.leg.hops);
  Message& m = w.out.arena->write_one(w.node.step_and_source, to, run.block_bytes, id, leg);
  MessageArena::first_bucket(m) = MessageArena::first_bucket(brought);
  MessageArena::only_slot(m) = std::exchange(MessageArena::only_slot(brought), Slot{0});
  w.tally.digest += digest_of_one(w.node.step_and_source, run.block_bytes, leg, id);
  ++w.tally.single_blocks;
  add_claim(run, w, m, way.slot);
}

// ---- posting ----

/// Copies, writes and posts the pending forwards. Each copy goes to the slot that the copy before it has left, which is in the cache.
template <class Copy>
[[gnu::always_inline]] inline void post_each_forward(RunState& run, Worker& w, Copy copy) {
  // Removed first: if there is no room for one of them the run ends, and nothing may be posted twice.
  const PendingForward* const end = std::exchange(w.out.forwards_end, w.out.forwards.data());
  const auto count = static_cast<std::size_t>(end - w.out.forwards.data());
  Slot spare = run.payload.slots.take(*w.free_slots);
  std::byte* to = run.payload.slots.at(spare);
  std::byte* line = w.out.arena->allocate_lines(count);  // nothing throws from here on
  auto line_number = static_cast<std::uint32_t>(run.links.exclusive().line_number(line));
  std::uint64_t digest = 0;
  for (const PendingForward* p = w.out.forwards.data(); p != end; ++p, line += 64) {
    copy(to, p->from);
    digest += p->message.write(line, spare);
    spare = p->message.slot();
    to = p->from;
    if (p->queue->push(LineNumber{line_number++})) [[likely]] {
      run.links.raise(p->message.destination(), p->out);
      activate(w, p->message.destination());
    } else {
      w.findings.suspect = true;
    }
  }
  run.payload.slots.give_back(*w.free_slots, spare);
  w.tally.digest += digest;
  w.tally.single_blocks += count;
}

}  // namespace

[[gnu::noinline]] void post_forwards(RunState& run, Worker& w) {
  if (run.payload.copier.one_line_each())
    post_each_forward(run, w, Copier::copy_line);
  else
    post_each_forward(run, w, [&run](std::byte* to, const std::byte* from) { run.payload.copier.copy(to, from, run.block_bytes); });
}

/// For machines on which a route may be illegal, or leave this process.
[[gnu::cold, gnu::noinline]] void set_aside(RunState& run, Worker& w) {
  if (run.border != nullptr && !run.border->set_aside(w)) w.findings.suspect = true;
  if (!run.machine.topology.whole() && !run.channels.drop_over_dead(w.out.claims)) w.findings.suspect = true;
}

/// Claims the channels of the messages added since the last call, and posts those that get all of theirs. All claims before the first
/// delivery: the fence between bids and looks waits for the stores before it, and those of a delivery go far.
void post_claims(RunState& run, Worker& w) {
  if (!run.channels.whole()) [[unlikely]]
    set_aside(run, w);
  if (!run.channels.shared() && !run.channels.claim(w.out.claims, w.index, run.stamp, run.single_worker)) w.findings.suspect = true;
  for (const Claim& each : w.out.claims.claims()) {
    if (each.message == nullptr) continue;
    const NodeId destination = each.message->destination();
    if (run.links.push(*each.message, destination, each.in_slot)) [[likely]]
      activate(w, destination);
    else
      w.findings.suspect = true;  // which of several senders finds no room is chance: the auditor counts them
  }
  w.out.claims.clear();
}

// ---- one block ----

[[gnu::noinline]] void forward_found(RunState& run, Worker& w, Dimension dimension, std::int32_t hops, BlockId id) {
  const Leg leg{dimension, hops};
  if (run.own_hops) [[likely]] {
    const OwnHop way{leg, run.channels.out_slot(leg)};
    Message* const brought = inbox::take_single(run, w, id);
    if (brought != nullptr ? send_single(run, w, JustArrived{*brought}, way, id) : send_single(run, w, InTable<false>{}, way, id))
        [[likely]] {
      if (w.out.forwards_full()) post_forwards(run, w);
      return;
    }
    if (!crosses(run, w, leg)) return refuse(run, w, {&leg, 1}, {&id, 1}, {});
    if (brought != nullptr) return cross(run, w, way, *brought, id);
  }
  send_bundle(run, w, {&leg, 1}, {&id, 1}, {}, true);
}

[[gnu::noinline]] void send_own_hop(RunState& run, Worker& w, Dimension dimension, std::int32_t hops, BlockId id) {
  if (send_single(run, w, InTable<true>{}, OwnHop{{dimension, hops}, run.channels.out_slot({dimension, hops})}, id)) [[likely]]
    return;
  // Made here: a read of the whole leg waits for the stores of its halves.
  const Leg leg{dimension, hops};
  if (!crosses(run, w, leg)) return refuse(run, w, {&leg, 1}, {&id, 1}, {});
  send_kept(run, w, {&leg, 1}, id, {});
}

/// Refuses what send_single() did not send, unless it is a block of no bytes that the sender need not hold.
[[gnu::cold, gnu::noinline]] void refuse_single(RunState& run, Worker& w, RouteView route, BlockId id, std::span<const Word> header) {
  if (is_nothing(run, id)) {
    w.out.claims.forget_last_route();
    return send_bundle(run, w, route, {&id, 1}, header, false);
  }
  refuse(run, w, route, {&id, 1}, header);
}

/// The hot path of broadcasts.
[[gnu::noinline]] void send_leg(RunState& run, Worker& w, Dimension dimension, std::int32_t hops, BlockId id) {
  if (send_single(run, w, InTable<true>{}, OneLeg{{dimension, hops}}, id)) [[likely]]
    return;
  const Leg leg{dimension, hops};
  refuse_single(run, w, {&leg, 1}, id, {});
}

/// All other sends of one block.
[[gnu::noinline]] void send_kept(RunState& run, Worker& w, RouteView route, BlockId id, std::span<const Word> header) {
  if (run.reduces) return post_partials(run, w, route, {&id, 1}, header, false, 0);
  if (!send_single(run, w, InTable<true>{}, AnyRoute{route, header}, id)) refuse_single(run, w, route, id, header);
}

void send_partials(RunState& run, Worker& w, RouteView route, std::span<const BlockId> blocks, std::span<const Word> header, bool release,
                   std::uint8_t registers) {
  use_port(w);
  post_partials(run, w, route, blocks, header, release, registers);
}

void send(RunState& run, Worker& w, RouteView route, std::span<const BlockId> blocks, std::span<const Word> header, bool release) {
  if (route.size() == 1 && blocks.size() == 1 && header.empty()) {
    const auto [dimension, hops] = route[0];
    return release ? forward_block(run, w, dimension, hops, blocks[0]) : send_block(run, w, dimension, hops, blocks[0]);
  }
  use_port(w);
  if (blocks.size() == 1 && !release)
    send_kept(run, w, route, blocks[0], header);
  else
    send_bundle(run, w, route, blocks, header, release);
}

void send_keeping(RunState& run, Worker& w, RouteView route, std::span<const BlockId> blocks, std::span<const Word> header, bool release) {
  use_port(w);
  send_bundle(run, w, route, blocks, header, release);
}

}  // namespace torus::detail::outbox
