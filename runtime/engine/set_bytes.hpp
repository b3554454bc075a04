/// Sets of bytes that are 0 or 1, eight at a time.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace torus::detail {

/// Calls f(i) for each byte i of a word that is 1, ascending; the others must be 0. A byte's lowest bit stands for it.
/// Inlined always, like what calls it for arrivals: else what f counts on with lies in memory, and each turn waits for the store of the one
/// before.
template <class F>
[[gnu::always_inline]] inline void each_set_byte(std::uint64_t word, F&& f) {
  for (; word != 0; word &= word - 1) f(static_cast<std::size_t>(std::countr_zero(word)) / 8);
}

}  // namespace torus::detail
