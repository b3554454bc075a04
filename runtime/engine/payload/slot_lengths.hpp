/// How long the slots of a run are, and how many of each length it needs.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <torus/block.hpp>
#include <torus/placement.hpp>

#include "runtime/engine/members.hpp"
#include "runtime/engine/processes/slab.hpp"

namespace torus::detail {

/// Lengths that blocks are rounded up to, four an octave: at most a quarter more.
struct LengthClass {
  static constexpr std::size_t count = 246;  // up to 2^62 bytes

  static std::size_t of(Bytes bytes) noexcept {
    if (bytes <= 8) return static_cast<std::size_t>(bytes);
    const auto octave = static_cast<std::size_t>(std::bit_width(bytes - 1)) - 3;
    return 4 * octave + static_cast<std::size_t>((bytes - 1) >> octave) + 1;
  }
  /// The bytes of the longest blocks that have it.
  static Bytes longest(std::size_t number) noexcept {
    if (number <= 8) return number;
    const std::size_t octave = (number - 5) / 4;
    return Bytes{number - 4 * octave} << octave;
  }
};

/// A slot is a row of units. Where blocks are equally long, a unit is as long as they are and each slot has one. Else units are short and
/// slots have a few lengths: a block lies in one of the next length above its own.
class SlotLengths {
 public:
  struct Length {
    std::uint64_t units;
    std::uint64_t blocks;  ///< that nodes hold in the end
  };
  using ByClass = std::array<std::uint64_t, LengthClass::count>;

  /// One length.
  SlotLengths(std::uint64_t blocks, Bytes longest) : unit_{unit_for(longest)}, all_{{1, blocks}} {}
  /// Several, where there are blocks of many lengths. blocks: by LengthClass; none is longer than `longest`.
  SlotLengths(const ByClass& blocks, Bytes longest);

  /// Bytes of a unit.
  Bytes unit() const noexcept { return unit_; }
  bool one() const noexcept { return one_; }
  /// Ascending.
  std::span<const Length> all() const noexcept { return all_; }
  /// Which of them is for blocks of so many bytes.
  std::size_t index(Bytes bytes) const noexcept { return one_ ? 0 : std::max(LengthClass::of(bytes), shortest_) - shortest_; }

 private:
  /// Whole cache lines for all but small blocks.
  static Bytes unit_for(Bytes longest) noexcept {
    const Bytes unit = longest > 64 ? 64 : longest > 4 ? 8 : longest > 2 ? 4 : longest > 1 ? 2 : 1;
    return (longest + unit - 1) / unit * unit;
  }

  Bytes unit_;
  bool one_ = true;           // length
  std::size_t shortest_ = 0;  // LengthClass of a unit, where there are several lengths
  std::vector<Length> all_;
};

/// Members::most_held() of the nodes of a slab.
std::uint64_t most_held(const Members& members, const Slab& slab) noexcept;

/// The slots that they need for it.
SlotLengths slots_held(const Members& members, const Slab& slab);

}  // namespace torus::detail
