/// Pseudo-random words: those that the bytes of blocks and contributions are, and a mixer of numbers.
#pragma once

#include <bit>
#include <cstdint>

namespace torus::detail {

static_assert(std::endian::native == std::endian::little, "bytes of payload are the words of a little-endian processor");

/// Word j of the stream with this key. Multiplications by odd constants: cheap, and every bit of key and j reaches the high half.
[[gnu::always_inline]] inline std::uint64_t stream_word(std::uint64_t key, std::uint64_t j) noexcept {
  const std::uint64_t w = (key ^ (j * 0x9E3779B97F4A7C15U)) * 0xD1B54A32D192ED03U;
  return w ^ (w >> 32U);
}

/// A permutation of the 64-bit numbers that looks random: the finaliser of SplitMix64 (Steele, Lea & Flood: Fast splittable pseudorandom
/// number generators, 2014). For consecutive numbers, first multiply by or add mixed_step.
constexpr std::uint64_t mixed(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31U);
}
inline constexpr std::uint64_t mixed_step = 0x9E3779B97F4A7C15U;

}  // namespace torus::detail
