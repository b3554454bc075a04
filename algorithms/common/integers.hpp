/// Integer logarithms.
#pragma once

#include <cstdint>

namespace torus {

/// The smallest number of steps t with base^t >= value, by integer multiplication. base >= 2, value >= 1.
constexpr std::uint32_t ceil_log(std::uint64_t base, std::uint64_t value) noexcept {
  std::uint32_t t = 0;
  for (; value > 1; value = (value - 1) / base + 1) ++t;  // dividing upwards t times is dividing upwards by base^t
  return t;
}

}  // namespace torus
