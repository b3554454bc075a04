/// What a reduction adds to the payload: how two partials are combined, and the signatures that tell whose contributions a slot has.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <torus/message.hpp>
#include <torus/placement.hpp>

#include "runtime/base/region.hpp"
#include "runtime/engine/payload/copier.hpp"
#include "runtime/engine/payload/slot_pool.hpp"
#include "runtime/model/contribution.hpp"

namespace torus::detail {

/// Min length of a *row*: numbers that are processed as one because they are consecutive.
inline constexpr std::size_t row = 8;

/// As many numbers, in vector registers: g++ makes no vectors of a loop that compares and may end early.
using Numbers = std::uint32_t __attribute__((vector_size(row * sizeof(std::uint32_t))));

/// Length of the leading run of consecutive integers. `numbers` must not be empty.
inline std::size_t consecutive(std::span<const std::uint32_t> numbers) noexcept {
  const std::uint32_t first = numbers[0];
  if (numbers.size() == 1 || numbers[1] != first + 1) return 1;  // most lists rise to their end or not at all
  std::size_t count = 0;
  Numbers expected = first + Numbers{0, 1, 2, 3, 4, 5, 6, 7};
  for (; count + row <= numbers.size(); count += row, expected += static_cast<std::uint32_t>(row)) {
    Numbers found;
    std::memcpy(&found, numbers.data() + count, sizeof found);
    const auto differ = std::bit_cast<std::array<std::uint64_t, row / 2>>(found ^ expected);
    if ((differ[0] | differ[1] | differ[2] | differ[3]) != 0) break;
  }
  while (count < numbers.size() && numbers[count] == first + static_cast<std::uint32_t>(count)) ++count;
  return count;
}

/// Whether all numbers of a list are consecutive. `numbers` must not be empty.
inline bool all_consecutive(std::span<const std::uint32_t> numbers) noexcept {
  if (numbers.back() != numbers[0] + static_cast<std::uint32_t>(numbers.size() - 1)) return false;
  std::uint32_t expected = numbers[0], differ = 0;
  for (const std::uint32_t number : numbers) differ |= number ^ expected++;
  return differ == 0;
}

/// Length of the row at the beginning of a list, at most `most`; 0 if there is none.
inline std::size_t row_of(std::span<const std::uint32_t> numbers, std::size_t most) noexcept {
  const std::size_t count = consecutive(numbers.first(std::min(most, numbers.size())));
  return count >= row ? count : 0;
}

/// Whether a list contains 0; whether it contains nothing else.
inline bool any_zero(std::span<const std::uint32_t> numbers) noexcept {
  std::uint32_t zeros = 0;
  for (const std::uint32_t number : numbers) zeros |= number == 0 ? 1U : 0U;
  return zeros != 0;
}
inline bool all_zero(std::span<const std::uint32_t> numbers) noexcept {
  std::uint32_t bits = 0;
  for (const std::uint32_t number : numbers) bits |= number;
  return bits == 0;
}

/// Calls f(id) for each block of the receiver that a block of a message goes to: itself, or one in each register that it is combined into.
template <class F>
void each_target(const Placement& placement, const Message& m, BlockId id, F&& f) {
  if (!m.combines()) return f(id);
  BlockId target = placement.segment_of(id);
  for (unsigned registers = m.registers(); registers != 0; registers >>= 1U, target += placement.vector_segments()) {
    if ((registers & 1U) != 0) f(target);
  }
}

/// The signatures of all slots; empty where blocks are no partials. A signature has the owner of its slot.
class Partials {
 public:
  /// Bytes of bookkeeping a slot.
  static std::size_t slot_overhead(const Placement& placement) noexcept { return placement.reduces() ? sizeof(std::uint64_t) : 0; }

  /// Max partials that are copied or combined at a time: a row, or 16 single ones, which are prefetched and stay in the first cache until
  /// they are used.
  static constexpr std::size_t most = 64, few = 16;

  /// All must outlive this.
  Partials(const Placement& placement, SlotPool& slots, const Copier& copier)
      : slots_{&slots},
        copier_{&copier},
        combine_{placement.reduces() ? combiner_of(placement.contributions().reduction) : nullptr},
        no_gaps_{placement.uniform() && placement.longest() > 0 && slots.stride() == placement.longest()} {}

  /// Reserves address space for the signatures. May be called again with fewer. Throws std::bad_alloc.
  void open(std::size_t slots) {
    if (combine_ == nullptr) return;
    signatures_ = {};
    signatures_ = Region<std::uint64_t>(slots);
  }
  void populate(std::size_t slots, unsigned part, unsigned parts) {
    if (combine_ != nullptr) signatures_.populate(slots, part, parts);
  }

  std::uint64_t& signature(Slot slot) noexcept { return signatures_[slot]; }
  std::uint64_t signature(Slot slot) const noexcept { return signatures_[slot]; }

  void prefetch(Slot slot) const noexcept {
    slots_->prefetch(slot);
    __builtin_prefetch(signatures_.data() + slot, 1);
  }
  /// Fetches partials and signatures that are going to be written.
  [[gnu::always_inline]] inline void prefetch(std::span<const Slot> slots) const noexcept {
    if (row_of(slots) == slots.size()) return;  // what lies in a row the processor fetches by itself
    for (const Slot slot : slots) prefetch(slot);
  }

  /// Whether the blocks of some slots, in order, are one piece of memory.
  bool in_one_piece(std::span<const Slot> slots) const noexcept { return slots.size() == 1 || (no_gaps_ && all_consecutive(slots)); }
  /// Length of the row at the beginning of a list of slots, if their blocks are adjacent; else 0.
  std::size_t row_of(std::span<const Slot> slots) const noexcept { return no_gaps_ ? detail::row_of(slots, most) : 0; }
  /// Length of the common prefix in which both lists name adjacent slots. Lists have equal length.
  std::size_t side_by_side(std::span<const Slot> a, std::span<const Slot> b) const noexcept {
    const std::size_t count = no_gaps_ ? consecutive(a) : 1;
    return count > 1 ? consecutive(b.first(count)) : 1;
  }

  /// Copies `count` partials from adjacent slots to adjacent slots.
  void copy(Slot to, Slot from, Bytes bytes, std::size_t count) noexcept {
    if (count > 1 && !copier_->streams(bytes)) {
      std::memcpy(slots_->at(to), slots_->at(from), bytes * count);
    } else {
      for (Slot i = 0; i < count; ++i) copier_->copy(to + i, from + i, bytes);
    }
    for (std::size_t i = 0; i < count; ++i) signatures_[to + i] = signatures_[from + i];
  }
  /// into := into op from, of the values and of the contributors; for `count` adjacent partials.
  void combine(Slot into, Slot from, Bytes bytes, std::size_t count = 1) noexcept {
    combine_(slots_->at(into), slots_->at(from), bytes * count);
    for (std::size_t i = 0; i < count; ++i) signatures_[into + i] += signatures_[from + i];
  }

 private:
  SlotPool* slots_;
  const Copier* copier_;
  Combiner combine_;
  bool no_gaps_;                      // between blocks in slots side by side
  Region<std::uint64_t> signatures_;  // by slot
};

}  // namespace torus::detail
