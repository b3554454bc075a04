// SPDX-License-Identifier: MIT
/// The hash of one message, as a Message in memory and as a line of a trace.
#pragma once

#define XXH_INLINE_ALL  // the header alone, no library to link
#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace torus::detail {

/// One block over one leg, the most frequent message by far: two words, the rest in the seed.
[[gnu::always_inline]] inline std::uint64_t digest_of_one(std::uint64_t step_and_source, std::uint64_t bytes, std::uint32_t block, std::uint32_t dimension,
                                                          std::uint32_t hops) noexcept {
  const std::uint64_t image[2] = {step_and_source, std::uint64_t{block} << 32U | hops};
  return XXH3_64bits_withSeed(image, sizeof image, bytes << 8U | dimension);
}

/// image: step and source (4 bytes each), bytes (8), the block ids (4 each, and 4 zero bytes after an odd number of them), the legs (dimension and hops, 4
/// each). The counts go in by the seed. The destination follows from the rest.
[[gnu::always_inline]] inline std::uint64_t digest_of_image(const void* image, std::size_t blocks, std::size_t legs) noexcept {
  if (blocks == 1 && legs == 1) {
    std::uint64_t ends[2];
    std::uint32_t rest[4];  // block, zero, dimension, hops
    std::memcpy(ends, image, sizeof ends);
    std::memcpy(rest, static_cast<const std::byte*>(image) + sizeof ends, sizeof rest);
    return digest_of_one(ends[0], ends[1], rest[0], rest[2], rest[3]);
  }
  return XXH3_64bits_withSeed(image, 16 + 8 * ((blocks + 1) / 2 + legs), std::uint64_t{blocks} << 32U | legs);
}

}  // namespace torus::detail
