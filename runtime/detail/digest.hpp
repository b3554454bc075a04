// SPDX-License-Identifier: MIT
/// The hash of one message, as a Message in memory and as a line of a trace.
#pragma once

#define XXH_INLINE_ALL  // the header alone, no library to link
#include <xxhash.h>

#include <cstddef>
#include <cstdint>

namespace torus::detail {

/// image: step and source (4 bytes each), bytes (8), the block ids (4 each, and 4 zero bytes after an odd number of them), the legs (dimension and hops, 4
/// each). The counts go in by the seed, so that a message of one block and one hop is hashed in one go of 32 bytes. The destination follows from the rest.
[[gnu::always_inline]] inline std::uint64_t digest_of_image(const void* image, std::size_t blocks, std::size_t legs) noexcept {
  return XXH3_64bits_withSeed(image, 16 + 8 * ((blocks + 1) / 2 + legs), std::uint64_t{blocks} << 32U | legs);
}

}  // namespace torus::detail
