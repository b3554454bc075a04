/// Integer quotients and logarithms, rounded up.
#pragma once

#include <concepts>
#include <cstdint>

namespace torus {

/// a / b, rounded up. a >= 0, b >= 1, and their sum fits in T.
template <std::integral T>
constexpr T ceil_div(T a, T b) noexcept {
  return (a + b - 1) / b;
}

/// The smallest number of steps t with base^t >= value, by integer multiplication. base >= 2, value >= 1.
constexpr std::uint32_t ceil_log(std::uint64_t base, std::uint64_t value) noexcept {
  std::uint32_t t = 0;
  for (; value > 1; value = (value - 1) / base + 1) ++t;  // dividing upwards t times is dividing upwards by base^t
  return t;
}

}  // namespace torus
