/// Where the lock-free protocols of the engine take their atomics from, and sets of flags that are read eight at a time.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace torus::detail {

/// Those of the language. A test has others, which try out what threads may see of each other (tests/support/interleaving.hpp).
struct StandardAtomics {
  template <class T>
  using Atomic = std::atomic<T>;
  template <class T>
  using Ref = std::atomic_ref<T>;
  /// What is written while no other thread reads it.
  template <class T>
  using Plain = T;

  static void fence(std::memory_order order) noexcept { std::atomic_thread_fence(order); }
  /// Eight bytes that no other thread writes meanwhile.
  static std::uint64_t read_word(const std::uint8_t* bytes) noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, 8);
    return word;
  }
  static void clear_word(std::uint8_t* bytes) noexcept { std::memset(bytes, 0, 8); }
};

/// Calls f(i) for each byte i of a word that is 1, ascending; the others must be 0. A byte's lowest bit stands for it.
/// Inlined always, like what calls it for arrivals: else what f counts on with lies in memory, and each turn waits for the store of the one
/// before.
template <class F>
[[gnu::always_inline]] inline void each_set_byte(std::uint64_t word, F&& f) {
  for (; word != 0; word &= word - 1) f(static_cast<std::size_t>(std::countr_zero(word)) / 8);
}

}  // namespace torus::detail
