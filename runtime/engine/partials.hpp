/// What a reduction adds to the payload: how two partials are combined, and the signatures that tell whose contributions a slot has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <torus/message.hpp>
#include <torus/placement.hpp>

#include "runtime/engine/consecutive.hpp"
#include "runtime/engine/copier.hpp"
#include "runtime/engine/region.hpp"
#include "runtime/engine/slot_pool.hpp"
#include "runtime/model/contribution.hpp"

namespace torus::detail {

/// Calls f(id) for each block of the receiver that a block of a message goes to: itself, or one in each register that it is combined into.
template <class F>
void each_target(const Placement& placement, const Message& m, BlockId id, F&& f) {
  if (!m.combines()) return f(id);
  BlockId target = placement.segment_of(id);
  for (unsigned registers = m.registers(); registers != 0; registers >>= 1U, target += placement.vector_segments()) {
    if ((registers & 1U) != 0) f(target);
  }
}

/// Empty where blocks are no partials. A slot's signature belongs to whoever owns the slot.
class Partials {
 public:
  /// Bytes of bookkeeping a slot.
  static std::size_t slot_overhead(const Placement& placement) noexcept { return placement.reduces() ? sizeof(std::uint64_t) : 0; }

  /// Partials are copied and combined a row of at most so many at a time; or 16, which are fetched first and stay in the first cache until
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

  /// The length of the row with which a list of slots begins, their blocks without gaps; 0 if it begins with none.
  std::size_t row_of(std::span<const Slot> slots) const noexcept { return no_gaps_ ? detail::row_of(slots, most) : 0; }
  /// So many of the first slots of two lists, which are as long, lie side by side, their blocks without gaps.
  std::size_t side_by_side(std::span<const Slot> a, std::span<const Slot> b) const noexcept {
    const std::size_t count = no_gaps_ ? consecutive(a) : 1;
    return count > 1 ? consecutive(b.first(count)) : 1;
  }

  /// Copies `count` partials that lie side by side to slots that do so, too.
  void copy(Slot to, Slot from, Bytes bytes, std::size_t count) noexcept {
    if (count > 1 && !copier_->streams(bytes)) {
      std::memcpy(slots_->at(to), slots_->at(from), bytes * count);
    } else {
      for (Slot i = 0; i < count; ++i) copier_->copy(to + i, from + i, bytes);
    }
    for (std::size_t i = 0; i < count; ++i) signatures_[to + i] = signatures_[from + i];
  }
  /// into := into op from; both have the contributors of both. `count` of them side by side.
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
