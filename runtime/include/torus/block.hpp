/// Blocks: the units of payload. A block's identity, and the bytes it must have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace torus {

/// A block's identity. A Placement gives it its meaning; traces carry the same numbers. 32 bits, since a total exchange keeps several ids a
/// block.
using BlockId = std::uint32_t;
/// The most blocks that the nodes of a run can hold together, each copy counted.
inline constexpr std::uint64_t most_blocks = 0xfffffffe;

/// Writes the bytes that block `id` must have: a function of (seed, id, offset) alone, so that a misplaced, truncated, swapped or stale
/// byte shows. Some 10 GB/s a core.
void fill_block(std::span<std::byte> bytes, std::uint64_t seed, BlockId id) noexcept;

struct WrongByte {
  std::size_t offset;
  std::byte got;
  std::byte wanted;
};
/// The first byte that differs from what fill_block() writes; none if all are right.
std::optional<WrongByte> first_wrong_byte(std::span<const std::byte> bytes, std::uint64_t seed, BlockId id) noexcept;

}  // namespace torus
