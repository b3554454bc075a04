/// What has arrived for a node: fetched, taken from the queues, found again when it is passed on, or put into the table.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <utility>

#include "runtime/engine/fabric.hpp"

namespace torus::detail {

void Fabric::expect(std::span<const NodeId> nodes, const Node* all) const noexcept {
  for (const NodeId rank : nodes) {
    __builtin_prefetch(all + rank);
    if (!arrived_.any(rank)) continue;
    channels_.prefetch(rank);
    if (!links_) continue;
    if (arrived_.several(rank))
      links_->prefetch(std::size_t{rank} * slots_, slots_);
    else
      arrived_.each(rank, [&](std::size_t slot) { links_->prefetch(std::size_t{rank} * slots_ + slot); });
  }
}

void Fabric::receive(std::span<const NodeId> nodes, Node* all, Inbox* inboxes, Worker& w) {
  for (const NodeId rank : nodes) {
    Node& node = all[rank];
    Inbox& inbox = *inboxes++;
    const Message** const room = inbox.room.data();
    const Message** const end = shared_ ? empty_shared_links(rank, room) : empty_links(rank, room);
    *end = w.no_block;
    const auto size = static_cast<std::size_t>(end - room);
    inbox.size = size;
    if (size > static_cast<std::size_t>(ports_)) w.suspect_receives = true;
    if (size > 0) NodeDoor::last_arrival(node) = now_;
    const auto* const frame = static_cast<const std::byte*>(NodeDoor::innermost(node).address());
    __builtin_prefetch(frame);
    __builtin_prefetch(frame + 64);
  }
}

[[gnu::always_inline]] inline const Message** Fabric::empty_links(NodeId rank, const Message** room) {
  ExclusiveLinks& links = *links_;
  ExclusiveLinks::Queue* const queues = links.queue(std::size_t{rank} * slots_);
  arrived_.take(rank, [&, queues](std::size_t slot) {
    links.pop(queues[slot], [&](const Message* m) {
      __builtin_prefetch(m, 1);
      *room++ = m;
    });
  });
  return room;
}

[[gnu::noinline]] const Message** Fabric::empty_shared_links(NodeId rank, const Message** room) {
  arrived_.take(rank, [&](std::size_t slot) {
    shared_links_.drain(std::size_t{rank} * slots_ + slot, now_ - 1, [&](const Message* m) { *room++ = m; });
  });
  return room;
}

void Fabric::expect_lists(std::span<const Inbox> inboxes) const noexcept {
  for (const Inbox& inbox : inboxes) {
    for (const Message* m : inbox.messages()) {
      const auto* const list = reinterpret_cast<const std::byte*>(MessageArena::slots(*m));
      for (std::size_t at = 0; at < std::min(m->blocks().size(), far_ahead) * sizeof(Slot); at += 64) __builtin_prefetch(list + at);
    }
  }
}

void Fabric::expect_blocks(std::span<const NodeId> nodes, const Inbox* inboxes) const noexcept {
  const bool streamed = store_.streams(block_bytes_);  // copies put off fetch what they read
  for (const NodeId rank : nodes) {
    const Inbox& inbox = *inboxes++;
    for (const Message* const message : inbox.messages()) {
      const Message& m = *message;
      if (m.blocks().empty()) continue;
      if (!streamed) {
        const Slot* const slots = MessageArena::slots(m);
        if (m.blocks().size() == 1)
          store_.prefetch(slots[0]);
        else
          for (std::size_t i = 0; i < std::min(m.blocks().size(), far_ahead); ++i) store_.prefetch_far(slots[i]);
      }
      if (!unique_) store_.prefetch_bucket(rank, MessageArena::first_bucket(m));  // else most pass on without having been there
    }
  }
}

[[gnu::noinline]] void Fabric::adopt_all(Worker& w) const {
  adopt_all(w, w.rank(), *std::exchange(w.inbox, &w.no_arrivals));
  w.turn = w.turns_end;
  w.unsettled = false;
}

void Fabric::adopt_all(Worker& w, NodeId rank, const Inbox& inbox) const {
  for (const Message* m : inbox.messages()) {
    if (m->blocks().size() != 1) {
      adopt_bundle(w, rank, *m);
      continue;
    }
    const Slot slot = MessageArena::only_slot(*m);
    if (slot == 0) continue;  // it has been passed on
    if (!store_.adopt_at(*w.stock, rank, MessageArena::first_bucket(*m), m->blocks()[0], slot)) ++w.duplicates;
  }
}

void Fabric::settle_all(std::span<const NodeId> nodes, std::span<const Inbox> inboxes, Worker& w) const {
  if (lists()) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      for (const Message* m : inboxes[i].messages()) {
        const std::span<const BlockId> ids = m->blocks();
        if (ids.size() == 1) continue;
        for (const BlockId id : ids.subspan(MessageArena::passed(*m))) store_.prefetch_bucket(nodes[i], placement_.bucket(id));
      }
    }
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (inboxes[i].size > 0) adopt_all(w, nodes[i], inboxes[i]);
  }
}

[[gnu::noinline]] void Fabric::adopt_bundle(Worker& w, NodeId rank, const Message& m) const {
  const std::size_t passed = MessageArena::passed(m);
  const std::span<const BlockId> ids = m.blocks().subspan(passed);
  const Slot* const slots = MessageArena::slots(m) + passed;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (!store_.adopt(*w.stock, rank, ids[i], slots[i])) ++w.duplicates;
  }
}

/// The message that has just brought this block alone, if it is one of the first few and has not been passed on; takes it for passed on
/// from now. Only where every block is unique: else the node might hold another copy.
[[gnu::noinline]] const Message* Fabric::take_just_arrived_alone(Worker& w, BlockId id) const noexcept {
  if (!unique_) return nullptr;
  const std::size_t few = std::min<std::size_t>(w.inbox->size, 8);
  for (std::size_t at = 0; at < few; ++at) {
    const Message* const* const m = w.inbox->room.data() + at;
    if (!MessageArena::is_one(**m) || MessageArena::only_block(**m) != id || MessageArena::only_slot(**m) == 0) continue;
    if (w.turn != m) w.unsettled = true;
    if (ones_ && w.turn <= m) w.turn = m + 1;
    return *m;
  }
  return nullptr;
}

/// The slots of blocks that a message not yet adopted has brought, if those before them in it have been passed on already, and they have
/// not; else null. Takes them for passed on from now; an only block is so when its slot is 0.
Slot* Fabric::take_just_arrived(Worker& w, std::span<const BlockId> blocks) const {
  if (!unique_ || blocks.empty()) return nullptr;
  for (std::size_t i = 0; i < w.inbox->size; ++i) {
    auto& m = const_cast<Message&>(*w.inbox->room[i]);  // ours alone since it arrived
    const std::span<const BlockId> ids = m.blocks();
    const auto before = std::less<const BlockId*>();
    if (before(blocks.data(), ids.data()) || before(ids.data() + ids.size(), blocks.data() + blocks.size())) continue;
    const auto first = static_cast<std::size_t>(blocks.data() - ids.data());
    Slot* const slots = MessageArena::slots(m) + first;
    if (ids.size() == 1) return slots[0] != 0 ? slots : nullptr;
    if (MessageArena::passed(m) != first) return nullptr;
    MessageArena::passed(m) += static_cast<std::uint32_t>(blocks.size());
    return slots;
  }
  return nullptr;
}

}  // namespace torus::detail
