/// Whole numbers: quotients and logarithms, rounded up; displacements round a ring; digits in base -2; equal parts of a line.
#pragma once

#include <concepts>
#include <cstdint>

#include <torus/topology.hpp>

namespace torus {

/// a / b, rounded up. a >= 0, b >= 1.
template <std::integral T>
constexpr T ceil_div(T a, T b) noexcept {
  return static_cast<T>(a / b + (a % b != 0 ? 1 : 0));
}

/// The smallest number of steps t with base^t >= value, by integer multiplication. base >= 2, value >= 1.
constexpr std::uint32_t ceil_log(std::uint64_t base, std::uint64_t value) noexcept {
  std::uint32_t t = 0;
  for (; value > 1; value = (value - 1) / base + 1) ++t;  // dividing upwards t times is dividing upwards by base^t
  return t;
}

/// The representative of x modulo n in window(n) = -floor((n-1)/2) .. floor(n/2).
constexpr std::int32_t centred(std::int64_t x, std::int32_t n) noexcept {
  const std::int32_t r = modulo(x, n);
  return r > n / 2 ? r - n : r;
}

/// The digits of a whole number in base -2, as bits: bit i stands for (-2)^i. -2^30 <= x <= 2^30.
constexpr std::uint32_t negabinary(std::int32_t x) noexcept {
  constexpr std::uint32_t odd_digits = 0xaaaaaaaa;
  return (odd_digits + static_cast<std::uint32_t>(x)) ^ odd_digits;
}

/// The number that is written in base -2 as a row of `digits` ones: 1, -1, 3, -5, 11. 1 <= digits <= 30.
constexpr std::int32_t negabinary_ones(std::int32_t digits) noexcept {
  std::int32_t x = 1;
  for (std::int32_t i = 1; i < digits; ++i) x = 1 - 2 * x;
  return x;
}

/// A ring or line of n places divided into parts, as equal as whole numbers allow.
struct EqualParts {
  std::int32_t n, parts;

  /// The first place of a part, 0 .. parts; of `parts`: n.
  std::int32_t start(std::int32_t part) const noexcept { return static_cast<std::int32_t>(std::int64_t{part} * n / parts); }
  std::int32_t length(std::int32_t part) const noexcept { return start(part + 1) - start(part); }
  /// The part of a place, 0 .. n-1: the last that starts at the place or before it.
  std::int32_t part_of(std::int32_t place) const noexcept { return static_cast<std::int32_t>((std::int64_t{place + 1} * parts - 1) / n); }
};

}  // namespace torus
