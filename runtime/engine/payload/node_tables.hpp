/// Which node holds which blocks, and in which slots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <torus/error.hpp>
#include <torus/placement.hpp>

#include "runtime/base/region.hpp"
#include "runtime/engine/payload/copier.hpp"
#include "runtime/engine/processes/slab.hpp"

namespace torus::detail {

/// A table per node: bucket -> chain of slots. Only the worker that runs a node touches its table.
class NodeTables {
  /// The block in a held slot, and the next slot of its bucket. Only where several blocks share a bucket.
  struct Entry {
    BlockId id;
    Slot next;
  };

  /// See link_to().
  template <class Tables>
  [[gnu::always_inline]] static inline auto link(Tables& tables, NodeId node, std::uint32_t bucket, BlockId id) noexcept {
    auto* link = tables.table_.data() + (std::size_t{node} * tables.buckets_ + bucket);
    if (!tables.chained_) return link;
    auto* const entries = tables.entries_.data();
    for (Slot slot = *link; slot != 0 && entries[slot].id != id; slot = *link) link = &entries[slot].next;
    return link;
  }
  /// See links_to().
  template <class Tables>
  static auto links(Tables& tables, NodeId node, BlockId first, [[maybe_unused]] std::size_t count) noexcept {
    TORUS_ASSERT(tables.placement_->reduces() && first + count <= tables.buckets_);
    return tables.table_.data() + (std::size_t{node} * tables.buckets_ + first);
  }

 public:
  /// Bytes of bookkeeping per slot, and per bucket.
  static std::size_t slot_overhead(const Placement& placement) noexcept { return placement.one_block_a_bucket() ? 0 : sizeof(Entry); }
  static constexpr std::size_t bucket_overhead = sizeof(Slot);

  /// nodes: of the machine, whose groups the placement may be for.
  NodeTables(const Placement& placement, NodeId nodes)
      : placement_{&placement}, nodes_{nodes}, buckets_{placement.buckets()}, chained_{!placement.one_block_a_bucket()} {}

  /// Reserves address space for tables that name slots below `slots`. May be called again with fewer. Throws std::bad_alloc.
  void open(std::size_t slots) {
    if (chained_) entries_ = {};
    if (chained_) entries_ = Region<Entry>(slots);
    if (table_.size() == 0) table_ = Region<Slot>(std::size_t{nodes_} * buckets_);
  }
  void populate(const Slab& slab, std::size_t slots, unsigned part, unsigned parts) {
    if (chained_) entries_.populate(slots, part, parts);
    table_.populate(std::size_t{slab.begin()} * buckets_, std::size_t{slab.nodes()} * buckets_, part, parts);
  }
  /// Empties part `part` of `parts` of a slab's tables.
  void clear(const Slab& slab, unsigned part, unsigned parts) {
    const std::size_t entries = std::size_t{slab.nodes()} * buckets_;
    const std::size_t from = entries * part / parts;
    const std::size_t to = entries * (part + 1) / parts;
    if (to > from) std::memset(&table_[std::size_t{slab.begin()} * buckets_ + from], 0, (to - from) * sizeof(Slot));
  }

  /// The slot in which a node holds a block; 0 if it does not.
  Slot find(NodeId node, BlockId id) const noexcept {
    const std::uint32_t bucket = placement_->bucket(id);
    return bucket == Placement::no_bucket ? 0 : *link(*this, node, bucket, id);
  }
  /// The entry of a node's table that names the slot of a block; 0 stands there if the block is not held. The bucket must be the block's.
  [[gnu::always_inline]] inline Slot* link_to(NodeId node, std::uint32_t bucket, BlockId id) noexcept {
    return link(*this, node, bucket, id);
  }

  /// Entries of `count` consecutive partials, contiguous in the table. All of them must exist.
  std::span<Slot> links_to(NodeId node, BlockId first, std::size_t count) noexcept { return {links(*this, node, first, count), count}; }
  std::span<const Slot> links_to(NodeId node, BlockId first, std::size_t count) const noexcept {
    return {links(*this, node, first, count), count};
  }

  /// Adds a block that the node does not hold, in a slot that has been taken and filled.
  [[gnu::always_inline]] inline void add(NodeId node, std::uint32_t bucket, BlockId id, Slot slot) noexcept {
    TORUS_ASSERT(slot != 0 && bucket < buckets_ && *link(*this, node, bucket, id) == 0);
    Slot& head = table_[std::size_t{node} * buckets_ + bucket];
    if (chained_) entries_[slot] = {id, head};
    head = slot;
  }
  /// Adds any block. False if the node holds it already. This is the only place where a block that arrives meets one that is held.
  bool store(NodeId node, BlockId id, Slot slot) noexcept { return store(node, placement_->bucket(id), id, slot); }
  [[gnu::always_inline]] inline bool store(NodeId node, std::uint32_t bucket, BlockId id, Slot slot) noexcept {
    if (*link(*this, node, bucket, id) != 0) return false;
    add(node, bucket, id, slot);
    return true;
  }

  /// Takes a held block away from a node and gives its slot to the caller; 0 if it is not held.
  Slot take_away(NodeId node, BlockId id) noexcept {
    const std::uint32_t bucket = placement_->bucket(id);
    return bucket == Placement::no_bucket ? 0 : take_away(link_to(node, bucket, id));
  }
  [[gnu::always_inline]] inline Slot take_away(Slot* link) noexcept {
    const Slot slot = *link;
    if (slot != 0) *link = after(slot);
    return slot;
  }

  /// Calls f(id, slot) for all that a node holds, in the order of its table. Slots are scattered: calls prefetch(slot) 16 entries ahead.
  template <class F, class Prefetch>
  void each_held(NodeId node, F&& f, Prefetch&& prefetch) const {
    constexpr std::uint32_t ahead = 16;
    const Slot* table = &table_[std::size_t{node} * buckets_];
    for (std::uint32_t bucket = 0; bucket < buckets_; ++bucket) {
      if (bucket + ahead < buckets_) {
        const Slot next = table[bucket + ahead];
        if (chained_) __builtin_prefetch(&entries_[next]);
        prefetch(next);
      }
      for (Slot slot = table[bucket]; slot != 0; slot = after(slot)) {
        f(chained_ ? entries_[slot].id : placement_->in_bucket(bucket), slot);
      }
    }
  }

  [[gnu::always_inline]] void prefetch(NodeId node, std::uint32_t bucket) const noexcept {
    __builtin_prefetch(table_.data() + (std::size_t{node} * buckets_ + bucket), 1);
  }

 private:
  /// The next slot of a bucket.
  Slot after(Slot slot) const noexcept { return chained_ ? entries_[slot].next : 0; }

  const Placement* placement_;
  NodeId nodes_;
  std::uint32_t buckets_;
  bool chained_;
  Region<Entry> entries_;  // by slot
  Region<Slot> table_;     // nodes x buckets
};

}  // namespace torus::detail
