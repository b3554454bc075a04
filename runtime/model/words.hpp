/// Pseudo-random words that the bytes of blocks and contributions are.
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

}  // namespace torus::detail
