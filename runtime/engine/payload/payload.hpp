/// The bytes of all blocks: slots, tables that say which node holds which, and the copies between slots.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <torus/placement.hpp>

#include "runtime/engine/members.hpp"
#include "runtime/engine/memory_budget.hpp"
#include "runtime/engine/payload/copier.hpp"
#include "runtime/engine/payload/node_tables.hpp"
#include "runtime/engine/payload/partials.hpp"
#include "runtime/engine/payload/slot_lengths.hpp"
#include "runtime/engine/payload/slot_pool.hpp"

namespace torus::detail {

/// What writing or comparing blocks takes one thread, in nanoseconds. An estimate that affects only speed.
inline double ns_for_blocks(std::uint64_t blocks, Bytes bytes) noexcept {
  return static_cast<double>(blocks) * (20 + static_cast<double>(bytes) / 8);
}

/// A delivery takes a slot from the sending worker's free list and copies the bytes into it once. The receiver then owns the slot.
/// A node's table belongs to the worker that runs the node, a free list to its worker, and a slot's bytes to its holder.
struct Payload {
  /// For the nodes of a slab. Budget, slab and pages, which may be null, must outlive this. Copies beyond the estimate, made by programs
  /// that send what receivers hold already, draw from the budget.
  Payload(const Members& members, const Slab& slab, MemoryBudget& budget, unsigned workers, KeptPages* pages)
      : own(slab),
        slots(slots_held(members, slab), NodeTables::slot_overhead(members.placement()) + Partials::slot_overhead(members.placement()),
              budget, workers, pages),
        tables(members.placement(), members.nodes()),
        copier(slots),
        partials(members.placement(), slots, copier) {
    // Address space only. Fewer slots, but all that are expected, where the process may not have so much of it.
    reserve_most(slots.max_slots(), slots.expected(), [this](std::size_t count) {
      slots.open(count);
      tables.open(count);
      partials.open(count);
    });
  }
  Payload(const Payload&) = delete;
  Payload& operator=(const Payload&) = delete;

  /// Makes the kernel provide the memory that the run needs.
  void populate(unsigned part, unsigned parts) {
    slots.populate(part, parts);
    tables.populate(own, slots.expected(), part, parts);
    partials.populate(slots.expected(), part, parts);
  }
  /// Bytes of the units used beyond those expected, with their bookkeeping.
  Bytes beyond_expected() const noexcept {
    const std::uint64_t used = slots.used(), expected = slots.expected() - 1;
    return used > expected ? (used - expected) * slots.bytes_each() : 0;
  }
  /// Takes all slots back. The tables are cleared apart, in parts.
  void clear() noexcept {
    copier.stream(false);
    slots.clear();
  }

  /// A held block's bytes; none if a node does not hold it.
  std::span<const std::byte> bytes(const Placement& placement, NodeId node, BlockId id) const {
    const Slot slot = tables.find(node, id);
    if (slot == 0) return {};
    return {slots.at(slot), static_cast<std::size_t>(placement.bytes(id))};
  }

  // lists: a worker's first, see SlotPool::list_for().

  /// Takes a slot for a block of so many bytes, and gives it back.
  [[gnu::always_inline]] inline Slot take(FreeList& lists, Bytes bytes) { return slots.take(slots.list_for(lists, bytes)); }
  [[gnu::always_inline]] inline void give_back(FreeList& lists, Slot slot, Bytes bytes) {
    slots.give_back(slots.list_for(lists, bytes), slot);
  }
  /// Copies a block to a slot of its own.
  [[gnu::always_inline]] inline Slot copy_to_new(FreeList& lists, Slot from, Bytes bytes) {
    const Slot to = take(lists, bytes);
    copier.copy(to, from, bytes);
    return to;
  }
  /// The same, and gives the slot back that it was in.
  [[gnu::always_inline]] inline Slot move_to_new(FreeList& lists, Slot from, Bytes bytes) {
    FreeList& list = slots.list_for(lists, bytes);
    Slot to = slots.exchange(list, from);
    if (to == 0) [[unlikely]] {
      to = copy_to_new(lists, from, bytes);
      slots.give_back(list, from);
      return to;
    }
    copier.copy(to, from, bytes);
    return to;
  }

  const Slab& own;
  SlotPool slots;
  NodeTables tables;
  Copier copier;
  Partials partials;
};

}  // namespace torus::detail
