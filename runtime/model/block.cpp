#include <torus/block.hpp>

#define XXH_INLINE_ALL  // the header alone, no library to link
#include <algorithm>
#include <cstring>
#include <xxhash.h>

#include "runtime/base/words.hpp"

namespace torus {
namespace {

std::uint64_t key_of(std::uint64_t seed, BlockId id) noexcept {
  const std::uint64_t wide = id;
  return XXH64(&wide, sizeof wide, seed);
}

}  // namespace

void fill_block(std::span<std::byte> bytes, std::uint64_t seed, BlockId id) noexcept {
  const std::uint64_t key = key_of(seed, id);
  std::size_t j = 0;
  for (; 8 * (j + 1) <= bytes.size(); ++j) {
    const std::uint64_t w = detail::stream_word(key, j);
    std::memcpy(bytes.data() + 8 * j, &w, 8);
  }
  const std::uint64_t w = detail::stream_word(key, j);
  if (bytes.size() % 8 != 0) std::memcpy(bytes.data() + 8 * j, &w, bytes.size() % 8);
}

std::optional<WrongByte> first_wrong_byte(std::span<const std::byte> bytes, std::uint64_t seed, BlockId id) noexcept {
  const std::uint64_t key = key_of(seed, id);
  const auto same = [&](std::size_t j) {
    std::uint64_t w = 0;
    std::memcpy(&w, bytes.data() + 8 * j, 8);
    return w == detail::stream_word(key, j);
  };
  std::size_t j = 0;
  while (j < bytes.size() / 8 && same(j)) ++j;
  const std::uint64_t w = detail::stream_word(key, j);  // of the first wrong one, or of the last few bytes
  std::byte wanted[8];
  std::memcpy(wanted, &w, 8);
  for (std::size_t i = 8 * j; i < std::min(8 * j + 8, bytes.size()); ++i) {
    if (bytes[i] != wanted[i - 8 * j]) return WrongByte{i, bytes[i], wanted[i - 8 * j]};
  }
  return std::nullopt;
}

}  // namespace torus
