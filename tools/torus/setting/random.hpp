/// Random choices that are the same on every host: a seed is all that a report has to keep.
#pragma once

#include <cstdint>

#include "runtime/base/words.hpp"

namespace torus::command {

/// splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept : state_{seed} {}
  /// A stream of its own for each (seed, number).
  Random(std::uint64_t seed, std::uint64_t number) noexcept : state_{seed} { state_ = next() ^ (number * 0xD1B54A32D192ED03U); }

  std::uint64_t next() noexcept {
    state_ += detail::mixed_step;
    return detail::mixed(state_);
  }
  /// 0..limit-1; limit >= 1. The bias is below limit / 2^64.
  std::uint64_t below(std::uint64_t limit) noexcept { return next() % limit; }
  /// first..last.
  std::int32_t between(std::int32_t first, std::int32_t last) noexcept {
    return first + static_cast<std::int32_t>(below(static_cast<std::uint64_t>(last - first) + 1));
  }
  /// 0 <= x < 1.
  double fraction() noexcept { return static_cast<double>(next() >> 11U) * 0x1p-53; }
  bool chance(double probability) noexcept { return fraction() < probability; }
  template <class List>
  const auto& one_of(const List& list) noexcept {
    return list[below(list.size())];
  }

 private:
  std::uint64_t state_;
};

}  // namespace torus::command
