/// The hash of a message, of a Message in memory and of a line of a trace. A run's digest is the sum of them.
#pragma once

#define XXH_INLINE_ALL  // the header alone, no library to link
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <xxhash.h>

namespace torus::detail {

static_assert(std::endian::native == std::endian::little, "digests hash integers as they are in memory");

/// Fast path for one block over one leg, by far the most frequent message: hashes two words and takes the rest as the seed. leg: the
/// dimension in the low half, the hops in the high half.
[[gnu::always_inline]] inline std::uint64_t digest_of_one(std::uint64_t step_and_source, std::uint64_t bytes, std::uint64_t leg,
                                                          std::uint32_t block) noexcept {
  const std::uint64_t image[2] = {step_and_source, leg};
  return XXH3_64bits_withSeed(image, sizeof image, std::uint64_t{block} << 32U ^ bytes);
}

/// image: step and source (4 bytes each), bytes (8; in reductions also the registers in the highest 8 bits, and in the next whether the
/// sender releases), the legs (dimension and hops, 4 each), the block ids (4 each, padded to 8 with zeros).
/// The seed holds the counts. The destination is left out, since it follows from the source and the legs.
[[gnu::always_inline]] inline std::uint64_t digest_of_image(const void* image, std::size_t blocks, std::size_t legs) noexcept {
  if (blocks == 1 && legs == 1) {
    std::uint64_t words[4];
    std::memcpy(words, image, sizeof words);
    return digest_of_one(words[0], words[1], words[2], static_cast<std::uint32_t>(words[3]));
  }
  const std::size_t bytes = 16 + 8 * ((blocks + 1) / 2 + legs);
  const std::uint64_t seed = std::uint64_t{blocks} << 32U | legs;
  if (bytes == 40) return XXH3_64bits_withSeed(image, 40, seed);  // one block over two legs: a constant length is faster
  return XXH3_64bits_withSeed(image, bytes, seed);
}

}  // namespace torus::detail
