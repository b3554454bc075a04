/// Numbers that rise one by one: the block ids of a bundle, slots side by side.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace torus::detail {

/// So many at least are a row, which is worth to be treated as one.
inline constexpr std::size_t row = 8;

/// How many of the first numbers of a list, which must not be empty, rise one by one.
inline std::size_t consecutive(std::span<const std::uint32_t> numbers) noexcept {
  const std::uint32_t first = numbers[0];
  if (numbers.size() == 1 || numbers[1] != first + 1) return 1;  // most lists rise to their end or not at all
  std::size_t count = 0;
  // Some at a time without a branch: the compiler makes vectors of them.
  for (; count + row <= numbers.size(); count += row) {
    std::uint32_t differ = 0;
    for (std::size_t i = count; i < count + row; ++i) differ |= numbers[i] ^ (first + static_cast<std::uint32_t>(i));
    if (differ != 0) break;
  }
  while (count < numbers.size() && numbers[count] == first + static_cast<std::uint32_t>(count)) ++count;
  return count;
}

/// The length of the row with which a list begins, of up to `most`; 0 if it begins with none.
inline std::size_t row_of(std::span<const std::uint32_t> numbers, std::size_t most) noexcept {
  const std::size_t count = consecutive(numbers.first(std::min(most, numbers.size())));
  return count >= row ? count : 0;
}

/// Whether a list has a 0.
inline bool any_zero(std::span<const std::uint32_t> numbers) noexcept {
  std::uint32_t zeros = 0;
  for (const std::uint32_t number : numbers) zeros |= number == 0 ? 1U : 0U;
  return zeros != 0;
}

}  // namespace torus::detail
