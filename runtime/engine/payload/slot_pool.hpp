/// The memory of all blocks' bytes, as slots of one or several lengths.
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
#include "runtime/engine/payload/slot_lengths.hpp"
#include "runtime/engine/workers/shared_range.hpp"

namespace torus::detail {

/// A place for one block's bytes: its first unit. 0 means none.
using Slot = std::uint32_t;

/// A worker's free list of slots of one length: recycled ones (last in, first out), then a range of unused ones.
struct alignas(64) FreeList {
  Slot* top = nullptr;  ///< one past the latest of `freed`
  Slot* base = nullptr;
  Slot* limit = nullptr;
  Slot fresh = 0;
  Slot fresh_end = 0;
  std::vector<Slot> freed;
  Slot units = 1;  ///< of a slot
  Slot chunk = 0;  ///< slots that are taken from a share at a time

  /// Adjacent slots that were given back together.
  struct Row {
    Slot first;
    Slot count;
  };
  std::vector<Row> rows;      ///< the latest are the last
  std::uint64_t in_rows = 0;  ///< slots

  std::uint64_t size() const noexcept { return static_cast<std::uint64_t>(top - base); }
  std::uint64_t all() const noexcept { return size() + in_rows; }  ///< that have been given back
};

/// Slots in one region, handed out by workers. A freed slot goes to the free list of the worker that freed it. It is the next to be used,
/// while it is still in that worker's cache.
class SlotPool {
 public:
  /// Units that a run uses: for the blocks that nodes hold in the end, those on their way, and in free lists. Of many lengths most have few
  /// blocks, and no more of these than there are can be on their way.
  static std::uint64_t units_for(const SlotLengths& lengths, unsigned workers) noexcept {
    std::uint64_t units = 0;
    for (const SlotLengths::Length& each : lengths.all()) {
      const std::uint64_t spare = 2 * chunk_for(each, lengths.unit(), workers) * workers;
      units += each.units * (each.blocks + (lengths.one() ? spare : std::min(spare, each.blocks)));
    }
    return units;
  }

  /// overhead: bytes of bookkeeping that a unit costs elsewhere. Units beyond those expected draw from the budget. pages: where the memory
  /// comes from; null: the kernel. Both must outlive this. open() follows.
  SlotPool(SlotLengths lengths, std::size_t overhead, MemoryBudget& budget, unsigned workers, KeptPages* pages = nullptr)
      : lengths_{std::move(lengths)},
        budget_{&budget},
        pages_{pages},
        stride_{static_cast<std::size_t>(lengths_.unit())},
        unit_bytes_{std::max<std::size_t>(1, stride_ + overhead)},
        lists_(workers * lengths_.all().size()),
        shares_(workers + 1) {
    std::uint64_t blocks = 0;
    for (std::size_t i = 0; i < lengths_.all().size(); ++i) {
      const SlotLengths::Length& each = lengths_.all()[i];
      blocks += each.blocks;
      held_ += each.units * each.blocks;
      for (unsigned worker = 0; worker < workers; ++worker) {
        FreeList& list = (&free_lists(worker))[i];
        list.units = static_cast<Slot>(each.units);
        list.chunk = static_cast<Slot>(chunk_for(each, lengths_.unit(), workers));
      }
    }
    if (blocks > most_blocks) {
      throw InputError(std::to_string(blocks) + " blocks: a run holds at most " + std::to_string(most_blocks) +
                       "; choose a smaller shape or fewer segments");
    }
    expected_ = std::min(units_for(lengths_, workers), most_blocks) + 1;
    // Slots of several lengths come from one share: the ends of several might be too short for the longest.
    const unsigned shared = lengths_.one() ? workers : 1;
    for (unsigned i = 0; i < shared; ++i) shares_[i].units.assign(1 + (expected_ - 1) * i / shared, 1 + (expected_ - 1) * (i + 1) / shared);
  }

  /// Units that the run is expected to use, plus unit 0; and those that the budget covers.
  std::uint64_t expected() const noexcept { return expected_; }
  std::uint64_t max_slots() const noexcept { return std::min(expected_ + budget_->granted() / unit_bytes_, most_blocks + 1); }
  /// Reserves address space for the units. May be called again with fewer. Throws std::bad_alloc.
  void open(std::size_t units) {
    bytes_ = {};
    bytes_ = Region<std::byte>(units * stride_, Region<std::byte>::Unzeroed{pages_});  // a slot is written before it is read
    shares_.back().units.assign(expected_, units);
  }
  /// Makes the kernel provide the memory of the expected units. Where slots are long, or of several lengths, those units that most runs
  /// leave unused, unit 0 and the spare ones, wait until a block is written there.
  void populate(unsigned part, unsigned parts) {
    if (stride_ == 0) return;
    if (!lengths_.one()) return bytes_.populate(stride_, held_ * stride_, part, parts);
    if (stride_ < long_slot) return bytes_.populate(expected_ * stride_, part, parts);
    const std::size_t first = 1 + (expected_ - 1) * part / parts, held = held_ * (part + 1) / parts - held_ * part / parts;
    bytes_.populate(first * stride_, held * stride_, 0, 1);
  }
  /// Takes all slots back.
  void clear() noexcept {
    for (Share& share : shares_) share.units.restart();
    for (FreeList& list : lists_) {
      list.top = list.base;
      list.fresh = list.fresh_end = 0;
      list.rows.clear();
      list.in_rows = 0;
    }
  }

  /// Units that have been used since clear().
  std::uint64_t used() const noexcept {
    std::uint64_t units = 0;
    for (const Share& share : shares_) units += share.units.taken();
    for (const FreeList& list : lists_) units -= list.fresh_end - list.fresh;
    return units;
  }

  /// A worker's first free list, and the one among them for blocks of so many bytes.
  FreeList& free_lists(unsigned worker) noexcept { return lists_[worker * lengths_.all().size()]; }
  [[gnu::always_inline]] inline FreeList& list_for(FreeList& first, Bytes bytes) const noexcept { return (&first)[lengths_.index(bytes)]; }
  /// Shares freed slots out again where they have piled up. A worker whose nodes drop what another's nodes send would collect them without
  /// end. One thread, between two steps.
  void level() {
    for (std::size_t length = 0; length < lengths_.all().size(); ++length) level(length);
  }

  /// Takes a free slot. Throws RunError when the memory granted is used up.
  Slot take(FreeList& list) {
    if (list.top != list.base) return *--list.top;
    if (list.fresh == list.fresh_end) {
      if (!list.rows.empty()) return cut_row(list, list.rows.size() - 1, 1);
      refill(list);
    }
    return std::exchange(list.fresh, list.fresh + list.units);
  }
  /// Takes several, of one unit: adjacent ones if they were given back so, or were never used.
  void take(FreeList& list, std::span<Slot> slots) {
    if (const Slot first = take_row(list, slots.size()); first != 0) {
      std::iota(slots.begin(), slots.end(), first);
    } else if (list.size() >= slots.size()) {
      const Slot* const last = list.top - 1;
      for (std::size_t i = 0; i < slots.size(); ++i) slots[i] = *(last - i);
      list.top -= slots.size();
    } else {
      for (Slot& slot : slots) slot = take(list);
    }
  }
  /// Takes adjacent slots of one unit and returns the first; 0, and nothing taken, if there are none at hand.
  Slot take_row(FreeList& list, std::size_t count) noexcept {
    if (count == 1 && list.top != list.base) return *--list.top;
    constexpr std::size_t few = 4;  // rows that are looked at
    for (std::size_t i = list.rows.size(), end = i - std::min(i, few); i-- > end;) {
      if (list.rows[i].count >= count) return cut_row(list, i, static_cast<Slot>(count));
    }
    if (list.fresh_end - list.fresh < count) return 0;
    return std::exchange(list.fresh, list.fresh + static_cast<Slot>(count));
  }
  [[gnu::always_inline]] inline void give_back(FreeList& list, Slot slot) {
    TORUS_ASSERT(slot != 0);
    if (list.top == list.limit) grow(list);
    *list.top++ = slot;
  }
  /// Gives adjacent slots back. Several that follow on the last ones join them.
  void give_back(FreeList& list, Slot first, std::size_t count) {
    if (count == 1) return give_back(list, first);
    TORUS_ASSERT(first != 0);
    list.in_rows += count;
    if (!list.rows.empty() && list.rows.back().first + list.rows.back().count == first)
      list.rows.back().count += static_cast<Slot>(count);
    else
      list.rows.push_back({first, static_cast<Slot>(count)});
  }
  /// Gives a slot back and takes another. 0, and nothing given back, if the list has no freed slot.
  [[gnu::always_inline]] inline Slot exchange(FreeList& list, Slot slot) noexcept {
    return list.top != list.base ? std::exchange(list.top[-1], slot) : 0;
  }

  /// Bytes of a unit.
  std::size_t stride() const noexcept { return stride_; }
  const SlotLengths& lengths() const noexcept { return lengths_; }
  /// The bytes of a unit, with the bookkeeping.
  std::size_t bytes_each() const noexcept { return unit_bytes_; }
  std::byte* at(Slot slot) noexcept { return bytes_.data() + std::size_t{slot} * stride_; }
  const std::byte* at(Slot slot) const noexcept { return bytes_.data() + std::size_t{slot} * stride_; }
  [[gnu::always_inline]] void prefetch(Slot slot) const noexcept { __builtin_prefetch(at(slot), 1); }
  /// To the second-level cache.
  [[gnu::always_inline]] void prefetch_far(Slot slot) const noexcept { __builtin_prefetch(at(slot), 1, 2); }

 private:
  /// A range of units that one worker takes from first, where slots have one length. So a worker finds the slots of the last run in its
  /// cache and in its part of the memory.
  struct alignas(64) Share {
    SharedRange<> units;
  };

  static constexpr std::size_t long_slot = std::size_t{1} << 18U;

  /// Slots that a worker takes from a share at a time.
  static std::uint64_t chunk_for(const SlotLengths::Length& length, Bytes unit, unsigned workers) noexcept {
    const Bytes of_a_long_slot = long_slot / std::max<Bytes>(length.units * unit, 64);
    return std::max<std::uint64_t>(1, std::min(of_a_long_slot, length.blocks / (std::uint64_t{8} * workers) + 1));
  }

  void level(std::size_t length) {
    const std::size_t pitch = lengths_.all().size();
    std::uint64_t all = 0, most = 0;
    for (std::size_t i = length; i < lists_.size(); i += pitch) {
      all += lists_[i].all();
      most = std::max(most, lists_[i].all());
    }
    const std::uint64_t mean = all * pitch / lists_.size();
    if (most <= mean + std::uint64_t{4} * lists_[length].chunk) return;
    std::size_t poor = length;
    for (std::size_t rich = length; rich < lists_.size(); rich += pitch) {
      while (lists_[rich].all() > mean + 1) {
        while (lists_[poor].all() >= mean) {
          if ((poor += pitch) >= lists_.size()) return;
        }
        if (lists_[rich].rows.empty()) {
          give_back(lists_[poor], *--lists_[rich].top);
          continue;
        }
        const auto count = static_cast<Slot>(
            std::min({lists_[rich].all() - mean, mean - lists_[poor].all(), std::uint64_t{lists_[rich].rows.back().count}}));
        give_back(lists_[poor], cut_row(lists_[rich], lists_[rich].rows.size() - 1, count), count);
      }
    }
  }

  /// Takes the first slots of a row.
  static Slot cut_row(FreeList& list, std::size_t number, Slot count) noexcept {
    FreeList::Row& row = list.rows[number];
    const Slot first = std::exchange(row.first, row.first + count);
    list.in_rows -= count;
    if ((row.count -= count) == 0) {
      row = list.rows.back();
      list.rows.pop_back();
    }
    return first;
  }

  [[gnu::cold, gnu::noinline]] static void grow(FreeList& list) {
    const auto count = static_cast<std::size_t>(list.top - list.base);
    list.freed.resize(std::max<std::size_t>(1024, 2 * count));
    list.base = list.freed.data();
    list.top = list.base + count;
    list.limit = list.base + list.freed.size();
  }

  [[gnu::cold, gnu::noinline]] void refill(FreeList& list) {
    const auto own = static_cast<std::size_t>(&list - lists_.data()) / lengths_.all().size();
    const std::size_t workers = shares_.size() - 1;
    const std::uint64_t units = std::uint64_t{list.chunk} * list.units;
    TORUS_ASSERT(own < workers);
    for (std::size_t i = 0; i <= workers; ++i) {
      SharedRange<>& share = shares_[i < workers ? (own + i) % workers : workers].units;
      if (share.spent()) continue;
      if (i == workers && !budget_->take(units * unit_bytes_)) continue;
      const SharedRange<>::Piece piece = share.take(units);
      const std::uint64_t slots = (piece.end - piece.begin) / list.units;
      if (slots == 0) continue;  // the end of a share is lost where it is shorter than a slot
      list.fresh = static_cast<Slot>(piece.begin);
      list.fresh_end = static_cast<Slot>(piece.begin + slots * list.units);
      return;
    }
    budget_->refuse("the blocks held and in flight need more than the " + std::to_string(expected_ - 1) + " slots of " +
                    std::to_string(stride_) +
                    " bytes that were estimated, and the memory limit allows no more: the program makes more copies than nodes want; raise "
                    "the memory limit (RunOptions::memory_limit) or release blocks");
  }

  SlotLengths lengths_;
  MemoryBudget* budget_;
  KeptPages* pages_;
  std::size_t stride_;
  std::size_t unit_bytes_;  // with its bookkeeping
  std::uint64_t held_ = 0;  // units of what nodes hold in the end
  std::uint64_t expected_ = 0;
  Region<std::byte> bytes_;
  std::vector<FreeList> lists_;  // by worker, then by length
  std::vector<Share> shares_;    // one per worker, of the units expected; and one of all others
};

}  // namespace torus::detail
