/// The memory of all blocks' bytes, as slots of one size.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <torus/error.hpp>
#include <torus/placement.hpp>

#include "runtime/base/region.hpp"
#include "runtime/engine/memory_budget.hpp"
#include "runtime/engine/workers/shared_range.hpp"

namespace torus::detail {

/// A place for one block's bytes; 0 means none.
using Slot = std::uint32_t;

/// A worker's free list: recycled slots (last in, first out), then a range of unused ones.
struct alignas(64) FreeList {
  Slot* top = nullptr;  ///< one past the latest of `freed`
  Slot* base = nullptr;
  Slot* limit = nullptr;
  Slot fresh = 0;
  Slot fresh_end = 0;
  std::vector<Slot> freed;

  std::uint64_t size() const noexcept { return static_cast<std::uint64_t>(top - base); }
};

/// Slots in one region, handed out by workers. A freed slot goes to the free list of the worker that freed it. It is the next to be used,
/// while it is still in that worker's cache.
class SlotPool {
 public:
  /// Bytes of a slot for blocks of at most `longest` bytes: whole cache lines for all but small blocks.
  static std::size_t stride_for(Bytes longest) noexcept {
    const Bytes unit = longest > 64 ? 64 : longest > 4 ? 8 : longest > 2 ? 4 : longest > 1 ? 2 : 1;
    return static_cast<std::size_t>((longest + unit - 1) / unit * unit);
  }
  /// Slots that a run uses beyond the blocks that nodes hold in the end: those on their way, and those in free lists.
  static std::uint64_t spare_slots(std::uint64_t blocks, Bytes longest, unsigned workers) noexcept {
    return 2 * chunk_for(blocks, longest, workers) * workers;
  }

  /// blocks: that nodes hold in the end. overhead: bytes of bookkeeping that a slot costs elsewhere. Slots beyond those expected draw from
  /// the budget. pages: where the memory comes from; null: the kernel. Both must outlive this. open() follows.
  SlotPool(std::uint64_t blocks, Bytes longest, std::size_t overhead, MemoryBudget& budget, unsigned workers, KeptPages* pages = nullptr)
      : budget_{&budget},
        pages_{pages},
        stride_{stride_for(longest)},
        slot_bytes_{std::max<std::size_t>(1, stride_ + overhead)},
        chunk_{chunk_for(blocks, longest, workers)},
        held_{blocks},
        lists_(workers),
        shares_(workers + 1) {
    if (blocks > most_blocks) {
      throw InputError(std::to_string(blocks) + " blocks: a run holds at most " + std::to_string(most_blocks) +
                       "; choose a smaller shape or fewer segments");
    }
    expected_ = std::min(blocks + spare_slots(blocks, longest, workers), most_blocks) + 1;
    for (unsigned i = 0; i < workers; ++i)
      shares_[i].slots.assign(1 + (expected_ - 1) * i / workers, 1 + (expected_ - 1) * (i + 1) / workers);
  }

  /// Slots that the run is expected to use, plus slot 0; and those that the budget covers.
  std::uint64_t expected() const noexcept { return expected_; }
  std::uint64_t max_slots() const noexcept { return std::min(expected_ + budget_->granted() / slot_bytes_, most_blocks + 1); }
  /// Reserves address space for the slots. May be called again with fewer. Throws std::bad_alloc.
  void open(std::size_t slots) {
    bytes_ = {};
    bytes_ = Region<std::byte>(slots * stride_, Region<std::byte>::Unzeroed{pages_});  // a slot is written before it is read
    shares_.back().slots.assign(expected_, slots);
  }
  /// Makes the kernel provide the memory of the expected slots. Where slots are long, those that most runs leave unused, slot 0 and the
  /// spare ones, wait until a block is written there.
  void populate(unsigned part, unsigned parts) {
    if (stride_ == 0) return;
    if (stride_ < long_slot) return bytes_.populate(expected_ * stride_, part, parts);
    const std::size_t first = 1 + (expected_ - 1) * part / parts, held = held_ * (part + 1) / parts - held_ * part / parts;
    bytes_.populate(first * stride_, held * stride_, 0, 1);
  }
  /// Takes all slots back.
  void clear() noexcept {
    for (Share& share : shares_) share.slots.restart();
    for (FreeList& list : lists_) {
      list.top = list.base;
      list.fresh = list.fresh_end = 0;
    }
  }

  /// Slots that have been used since clear().
  std::uint64_t used() const noexcept {
    std::uint64_t slots = 0;
    for (const Share& share : shares_) slots += share.slots.taken();
    for (const FreeList& list : lists_) slots -= list.fresh_end - list.fresh;
    return slots;
  }

  FreeList& free_list(unsigned worker) noexcept { return lists_[worker]; }
  /// Shares freed slots out again where they have piled up. A worker whose nodes drop what another's nodes send would collect them without
  /// end. One thread, between two steps.
  void level() {
    std::uint64_t all = 0, most = 0;
    for (const FreeList& list : lists_) {
      all += list.size();
      most = std::max(most, list.size());
    }
    const std::uint64_t mean = all / lists_.size();
    if (most <= mean + 4 * chunk_) return;
    auto poor = lists_.begin();
    for (FreeList& rich : lists_) {
      while (rich.size() > mean + 1) {
        while (poor->size() >= mean) {
          if (++poor == lists_.end()) return;
        }
        give_back(*poor, *--rich.top);
      }
    }
  }

  /// Takes a free slot. Throws RunError when the memory granted is used up.
  Slot take(FreeList& list) {
    if (list.top != list.base) return *--list.top;
    if (list.fresh == list.fresh_end) refill(list);
    return list.fresh++;
  }
  /// Takes several: adjacent ones if they were given back so, or were never used.
  void take(FreeList& list, std::span<Slot> slots) {
    if (list.size() >= slots.size()) {
      const Slot* const last = list.top - 1;
      for (std::size_t i = 0; i < slots.size(); ++i) slots[i] = *(last - i);
      list.top -= slots.size();
    } else if (list.fresh_end - list.fresh >= slots.size()) {
      std::iota(slots.begin(), slots.end(), list.fresh);
      list.fresh += static_cast<Slot>(slots.size());
    } else {
      for (Slot& slot : slots) slot = take(list);
    }
  }
  /// A lower bound of the slots that can be taken without a refill.
  static std::size_t at_hand(const FreeList& list) noexcept { return std::max<std::size_t>(list.size(), list.fresh_end - list.fresh); }
  [[gnu::always_inline]] inline void give_back(FreeList& list, Slot slot) {
    TORUS_ASSERT(slot != 0);
    if (list.top == list.limit) grow(list);
    *list.top++ = slot;
  }
  /// Gives adjacent slots back, or those of a list. take() returns them in their order.
  void give_back(FreeList& list, Slot first, std::size_t count) {
    if (count == 1) return give_back(list, first);
    TORUS_ASSERT(first != 0);
    make_room(list, count);
    const auto last = static_cast<Slot>(first + count - 1);
    for (std::size_t i = 0; i < count; ++i) list.top[i] = last - static_cast<Slot>(i);
    list.top += count;
  }
  void give_back(FreeList& list, std::span<const Slot> slots) {
    make_room(list, slots.size());
    for (std::size_t i = 0; i < slots.size(); ++i) list.top[i] = slots[slots.size() - 1 - i];
    list.top += slots.size();
  }
  /// Gives a slot back and takes another. 0, and nothing given back, if the list has no freed slot.
  [[gnu::always_inline]] inline Slot exchange(FreeList& list, Slot slot) noexcept {
    return list.top != list.base ? std::exchange(list.top[-1], slot) : 0;
  }

  std::size_t stride() const noexcept { return stride_; }
  /// With the bookkeeping.
  std::size_t bytes_each() const noexcept { return slot_bytes_; }
  std::byte* at(Slot slot) noexcept { return bytes_.data() + std::size_t{slot} * stride_; }
  const std::byte* at(Slot slot) const noexcept { return bytes_.data() + std::size_t{slot} * stride_; }
  [[gnu::always_inline]] void prefetch(Slot slot) const noexcept { __builtin_prefetch(at(slot), 1); }
  /// To the second-level cache.
  [[gnu::always_inline]] void prefetch_far(Slot slot) const noexcept { __builtin_prefetch(at(slot), 1, 2); }

 private:
  /// A range of slots that one worker takes from first. So a worker finds the slots of the last run in its cache and in its part of the
  /// memory.
  struct alignas(64) Share {
    SharedRange<> slots;
  };

  static constexpr std::size_t long_slot = std::size_t{1} << 18U;

  /// Slots that a worker takes from a share at a time.
  static std::uint64_t chunk_for(std::uint64_t blocks, Bytes longest, unsigned workers) noexcept {
    const std::uint64_t of_a_long_slot = long_slot / std::max<std::size_t>(stride_for(longest), 64);
    return std::max<std::uint64_t>(1, std::min(of_a_long_slot, blocks / (std::uint64_t{8} * workers) + 1));
  }

  static void make_room(FreeList& list, std::size_t count) {
    while (static_cast<std::size_t>(list.limit - list.top) < count) grow(list);
  }
  [[gnu::cold, gnu::noinline]] static void grow(FreeList& list) {
    const auto count = static_cast<std::size_t>(list.top - list.base);
    list.freed.resize(std::max<std::size_t>(1024, 2 * count));
    list.base = list.freed.data();
    list.top = list.base + count;
    list.limit = list.base + list.freed.size();
  }

  [[gnu::cold, gnu::noinline]] void refill(FreeList& list) {
    const auto own = static_cast<std::size_t>(&list - lists_.data());
    const std::size_t workers = lists_.size();
    TORUS_ASSERT(own < workers);
    for (std::size_t i = 0; i <= workers; ++i) {
      SharedRange<>& share = shares_[i < workers ? (own + i) % workers : workers].slots;
      if (share.spent()) continue;
      if (i == workers && !budget_->take(chunk_ * slot_bytes_)) continue;
      const SharedRange<>::Piece piece = share.take(chunk_);
      if (piece.empty()) continue;
      list.fresh = static_cast<Slot>(piece.begin);
      list.fresh_end = static_cast<Slot>(piece.end);
      return;
    }
    budget_->refuse("the blocks held and in flight need more than the " + std::to_string(expected_ - 1) + " slots of " +
                    std::to_string(stride_) +
                    " bytes that were estimated, and the memory limit allows no more: the program makes more copies than nodes want; raise "
                    "the memory limit (RunOptions::memory_limit) or release blocks");
  }

  MemoryBudget* budget_;
  KeptPages* pages_;
  std::size_t stride_;
  std::size_t slot_bytes_;  // with its bookkeeping
  std::uint64_t chunk_;
  std::uint64_t held_;  // by nodes, in the end
  std::uint64_t expected_ = 0;
  Region<std::byte> bytes_;
  std::vector<FreeList> lists_;
  std::vector<Share> shares_;  // one per worker, of the slots expected; and one of all others
};

}  // namespace torus::detail
