#include "runtime/engine/network/inbox.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

namespace torus::detail::inbox {
namespace {

/// Whether a message brings partials in adjacent slots.
bool in_row(const RunState& run, const Message& m) noexcept { return run.reduces && MessageArena::first_of_row(m) != 0; }

/// Stores a block that has arrived, or counts it where the node holds it already.
[[gnu::always_inline]] inline void store_block(RunState& run, Worker& w, NodeId rank, std::uint32_t bucket, BlockId id, Slot slot) {
  if (run.no_duplicates)
    run.payload.tables.add(rank, bucket, id, slot);
  else if (!run.payload.tables.store(rank, bucket, id, slot)) {
    run.payload.give_back(*w.free_slots, slot, run.bytes_of(id));
    ++w.tally.duplicates;
  }
}

[[gnu::noinline]] void store_bundle(RunState& run, Worker& w, NodeId rank, const Message& m) {
  const std::size_t forwarded = MessageArena::forwarded(m);
  const std::span<const BlockId> ids = m.blocks().subspan(forwarded);
  const Slot* const slots = MessageArena::slots(m) + forwarded;
  // Where ids are hashed, the last ones first: they are mostly sent on in their order, and found without a walk along a chain.
  const bool backwards = run.placement.hashes();
  for (std::size_t n = 0; n < ids.size(); ++n) {
    const std::size_t i = backwards ? ids.size() - 1 - n : n;
    store_block(run, w, rank, run.placement.bucket(ids[i]), ids[i], slots[i]);
  }
}

/// True if an arrival replaces a block for which more arrives in the same step. O(blocks log blocks), and only where some message replaces.
[[gnu::noinline]] bool replaces_and_more(const RunState& run, const ArrivedMessages& arrived) {
  std::vector<std::pair<BlockId, bool>> targets;
  for (const Message* m : arrived.messages()) {
    for (const BlockId id : m->blocks())
      each_target(run.placement, *m, id, [&](BlockId target) { targets.emplace_back(target, !m->combines()); });
  }
  std::sort(targets.begin(), targets.end());
  for (std::size_t i = 1; i < targets.size(); ++i) {
    if (targets[i].first == targets[i - 1].first && targets[i].second) return true;  // of equal targets the replacing ones are last
  }
  return false;
}

/// Receiver's slots in register 0, the common target; 0 = not held.
using Held = std::array<Slot, Partials::most>;

/// Finds these slots, and prefetches them and those that have arrived. Inlined, or g++ drops the prefetching as without effects.
[[gnu::always_inline]] inline std::span<const Slot> find_and_prefetch(RunState& run, NodeId rank, std::span<const BlockId> ids,
                                                                      std::span<const Slot> arrived, bool in_a_row, Held& room) noexcept {
  Payload& payload = run.payload;
  const std::uint32_t first = run.placement.segment_of(ids[0]);
  if (in_a_row && first + ids.size() <= run.placement.vector_segments()) {
    const std::span<const Slot> held = payload.tables.links_to(rank, first, ids.size());
    payload.partials.prefetch(arrived);
    payload.partials.prefetch(held);
    return held;
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    payload.partials.prefetch(arrived[i]);
    room[i] = payload.tables.find(rank, run.placement.segment_of(ids[i]));
    if (room[i] != 0) payload.partials.prefetch(room[i]);
  }
  return {room.data(), ids.size()};
}

/// A block of a message arrives in `slot`, to be combined. Each register that holds a partial combines it; the first that holds none takes
/// the slot, the others copies. Returns the bytes that were combined.
Bytes combine_into(RunState& run, Worker& w, NodeId rank, const Message& m, BlockId id, Slot slot) {
  Payload& payload = run.payload;
  const Bytes bytes = run.bytes_of(id);
  Bytes combined = 0;
  bool taken = false;
  each_target(run.placement, m, id, [&](BlockId target) {
    if (const Slot held = payload.tables.find(rank, target); held != 0) {
      payload.partials.combine(held, slot, bytes);
      combined += bytes;
      return;
    }
    const Slot own = taken ? payload.copy_to_new(*w.free_slots, slot, bytes) : slot;
    payload.partials.signature(own) = payload.partials.signature(slot);
    payload.tables.store(rank, target, own);
    taken = true;
  });
  if (!taken) payload.slots.give_back(*w.free_slots, slot);
  return combined;
}

/// Partials arrive in adjacent slots, to be combined. Returns the bytes that were combined.
Bytes combine_row(RunState& run, Worker& w, NodeId rank, const Message& m, Slot arrived) {
  Payload& payload = run.payload;
  const std::span<const BlockId> ids = m.blocks();
  const BlockId first = run.placement.segment_of(ids[0]);
  const bool one_extent = m.registers() == 1 && first + ids.size() <= run.placement.vector_segments();
  Bytes combined = 0;
  for (std::size_t i = 0; i < ids.size();) {
    const std::span<const Slot> held =
        one_extent ? payload.tables.links_to(rank, first + static_cast<BlockId>(i), ids.size() - i) : std::span<const Slot>();
    const Slot slot = arrived + static_cast<Slot>(i);
    if (held.empty() || held[0] == 0) {
      combined += combine_into(run, w, rank, m, ids[i], slot);
      ++i;
      continue;
    }
    const std::size_t count = all_consecutive(held) ? held.size() : consecutive(held);
    const Bytes bytes = run.bytes_of(ids[i]);
    payload.partials.combine(held[0], slot, bytes, count);
    payload.slots.give_back(*w.free_slots, slot, count);
    combined += bytes * count;
    i += count;
  }
  return combined;
}

/// A batch of a message arrives, to be combined. Returns the bytes that were combined.
Bytes combine_batch(RunState& run, Worker& w, NodeId rank, const Message& m, std::span<const BlockId> ids, std::span<const Slot> arrived,
                    bool in_a_row) {
  Payload& payload = run.payload;
  Held room;
  const std::span<const Slot> held = find_and_prefetch(run, rank, ids, arrived, in_a_row, room);
  const bool one_register = m.registers() == 1;
  Bytes combined = 0;
  for (std::size_t i = 0; i < ids.size();) {
    if (!one_register || held[i] == 0) {
      combined += combine_into(run, w, rank, m, ids[i], arrived[i]);
      ++i;
      continue;
    }
    const std::size_t count = payload.partials.side_by_side(held.subspan(i), arrived.subspan(i));
    const Bytes bytes = run.bytes_of(ids[i]);
    payload.partials.combine(held[i], arrived[i], bytes, count);
    payload.slots.give_back(*w.free_slots, arrived[i], count);
    combined += bytes * count;
    i += count;
  }
  return combined;
}

/// Gives back what a node holds in some entries of its table. Returns whether it holds anything there.
bool give_back_held(RunState& run, Worker& w, std::span<const Slot> links) {
  if (all_zero(links)) return false;
  for (std::size_t i = 0; i < links.size();) {
    const std::size_t count = links[i] != 0 ? consecutive(links.subspan(i)) : 1;
    if (links[i] != 0) run.payload.slots.give_back(*w.free_slots, links[i], count);
    i += count;
  }
  return true;
}

/// The partials of a message take the place of what the node holds. Returns whether it holds any of them.
bool replace(RunState& run, Worker& w, NodeId rank, const Message& m) {
  const std::span<const BlockId> ids = m.blocks();
  if (Slot slot = MessageArena::first_of_row(m); slot != 0) {
    const std::span<Slot> links = run.payload.tables.links_to(rank, ids[0], ids.size());
    const bool meets = give_back_held(run, w, links);
    std::iota(links.begin(), links.end(), slot);
    return meets;
  }
  const Slot* const slots = MessageArena::slots(m);
  bool meets = false;
  for (std::size_t i = 0; i < ids.size();) {
    const std::size_t count = consecutive(ids.subspan(i));
    const std::span<Slot> links = run.payload.tables.links_to(rank, ids[i], count);
    meets |= give_back_held(run, w, links);
    std::copy_n(slots + i, count, links.begin());
    i += count;
  }
  return meets;
}

[[gnu::noinline]] void store_partials(RunState& run, Worker& w, NodeId rank, const ArrivedMessages& arrived) {
  Bytes combined = 0;
  bool combines = false, replaces = false, meets = false;
  for (const Message* m : arrived.messages()) {
    const std::span<const BlockId> ids = m->blocks();
    const Slot* const slots = MessageArena::slots(*m);
    if (m->combines() && MessageArena::first_of_row(*m) != 0) {
      combined += combine_row(run, w, rank, *m, MessageArena::first_of_row(*m));
    } else if (m->combines()) {
      for (std::size_t i = 0; i < ids.size();) {
        const std::size_t in_a_row = row_of(ids.subspan(i), Partials::most);
        const std::size_t count = in_a_row > 0 ? in_a_row : std::min(Partials::few, ids.size() - i);
        combined += combine_batch(run, w, rank, *m, ids.subspan(i, count), {slots + i, count}, in_a_row > 0);
        i += count;
      }
    } else {
      meets |= replace(run, w, rank, *m);
    }
    if (!ids.empty()) (m->combines() ? combines : replaces) = true;
  }
  w.tally.combined_bytes += combined;
  w.tally.most_combined = std::max(w.tally.most_combined, combined);
  // A block that arrives twice finds the slot taken, unless it is combined with one that has just replaced another.
  if (replaces && (meets || combines) && arrived.size > 1 && replaces_and_more(run, arrived)) w.findings.suspect_receive(rank);
}

void store(RunState& run, Worker& w, NodeId rank, const ArrivedMessages& arrived) {
  if (run.reduces) return store_partials(run, w, rank, arrived);
  for (const Message* m : arrived.messages()) {
    if (m->blocks().size() != 1) {
      store_bundle(run, w, rank, *m);
      continue;
    }
    const Slot slot = MessageArena::only_slot(*m);
    if (slot == 0) continue;  // it has been forwarded
    store_block(run, w, rank, MessageArena::first_bucket(*m), *m->blocks().begin(), slot);
  }
}

}  // namespace

void prefetch(const RunState& run, std::span<const NodeId> nodes, const Node* all) noexcept {
  for (const NodeId rank : nodes) {
    __builtin_prefetch(all + rank);
    if (!run.links.any(rank)) continue;
    run.channels.prefetch(rank);
    run.links.prefetch(rank);
  }
}

void receive(RunState& run, Worker& w, std::span<const NodeId> nodes, Node* all, ArrivedMessages* arrived) {
  const auto ports = static_cast<std::size_t>(run.ports);
  for (const NodeId rank : nodes) {
    Node& node = all[rank];
    ArrivedMessages& each = *arrived++;
    Message** const room = each.room.data();
    Message** const end = run.links.take(rank, run.now, room);
    TORUS_ASSERT(end < room + each.room.size());
    *end = w.in.no_block;
    const auto size = static_cast<std::size_t>(end - room);
    each.size = size;
    if (size > ports) w.findings.suspect_receive(rank);
    if (size > 0) NodeAccess::last_arrival(node) = run.now;
    if (const auto* const frame = static_cast<const std::byte*>(NodeAccess::innermost(node).address())) {  // null: it has ended
      __builtin_prefetch(frame);
      __builtin_prefetch(frame + 64);
    }
  }
}

void prefetch_lists(std::span<const ArrivedMessages> arrived) noexcept {
  for (const ArrivedMessages& each : arrived) {
    for (const Message* m : each.messages()) {
      const auto* const list = reinterpret_cast<const std::byte*>(MessageArena::slots(*m));
      for (std::size_t at = 0; at < std::min(m->blocks().size(), far_ahead) * sizeof(Slot); at += 64) __builtin_prefetch(list + at);
    }
  }
}

void prefetch_blocks(const RunState& run, std::span<const NodeId> nodes, const ArrivedMessages* arrived) noexcept {
  const Payload& payload = run.payload;
  const bool streamed = payload.copier.streams(run.block_bytes);  // copies put off prefetch what they read
  for (const NodeId rank : nodes) {
    const ArrivedMessages& each = *arrived++;
    for (const Message* const m : each.messages()) {
      if (m->blocks().empty()) continue;
      if (!streamed) {
        const Slot* const slots = MessageArena::slots(*m);
        if (m->blocks().size() == 1 || in_row(run, *m))
          payload.slots.prefetch(MessageArena::only_slot(*m));
        else
          for (std::size_t i = 0; i < std::min(m->blocks().size(), far_ahead); ++i) payload.slots.prefetch_far(slots[i]);
      }
      // Without duplicates most blocks are forwarded and never enter a table.
      if (!run.no_duplicates) payload.tables.prefetch(rank, MessageArena::first_bucket(*m));
    }
  }
}

[[gnu::noinline]] void store_all(RunState& run, Worker& w) {
  store(run, w, w.node.rank(), *std::exchange(w.node.arrived, &w.in.none));
  w.node.next = w.node.end;
  w.node.unstored = false;
}

void store_all(RunState& run, Worker& w, std::span<const NodeId> nodes, std::span<const ArrivedMessages> arrived) {
  if (has_lists(run)) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      for (const Message* m : arrived[i].messages()) {
        const std::span<const BlockId> ids = m->blocks();
        if (ids.size() == 1 || in_row(run, *m)) continue;
        for (const BlockId id : ids.subspan(MessageArena::forwarded(*m))) run.payload.tables.prefetch(nodes[i], run.placement.bucket(id));
      }
    }
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (arrived[i].size > 0) store(run, w, nodes[i], arrived[i]);
  }
}

Message* take_single(const RunState& run, Worker& w, BlockId id) noexcept {
  if (!run.no_duplicates) return nullptr;
  RunningNode& node = w.node;
  const std::size_t first_few = std::min<std::size_t>(node.arrived->size, 8);
  for (std::size_t i = 0; i < first_few; ++i) {
    Message* const* const at = node.arrived->room.data() + i;
    if (!MessageArena::is_one(**at) || MessageArena::only_block(**at) != id || MessageArena::only_slot(**at) == 0) continue;
    if (node.next != at) node.unstored = true;
    if (run.all_single_block && node.next <= at) node.next = at + 1;
    return *at;
  }
  return nullptr;
}

Slot* take_bundle(const RunState& run, Worker& w, std::span<const BlockId> blocks) noexcept {
  if (!run.no_duplicates || blocks.empty()) return nullptr;
  for (Message* const message : w.node.arrived->messages()) {
    Message& m = *message;
    const std::span<const BlockId> ids = m.blocks();
    const auto before = std::less<const BlockId*>();
    if (before(blocks.data(), ids.data()) || before(ids.data() + ids.size(), blocks.data() + blocks.size())) continue;
    const auto first = static_cast<std::size_t>(blocks.data() - ids.data());
    Slot* const slots = MessageArena::slots(m) + first;
    if (ids.size() == 1) return slots[0] != 0 ? slots : nullptr;
    if (MessageArena::forwarded(m) != first) return nullptr;
    MessageArena::forwarded(m) += static_cast<std::uint32_t>(blocks.size());
    return slots;
  }
  return nullptr;
}

}  // namespace torus::detail::inbox
