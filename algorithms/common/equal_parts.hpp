/// A ring or line of n places cut in parts, as equal as whole numbers allow.
#pragma once

#include <cstdint>

namespace torus {

struct EqualParts {
  std::int32_t n, parts;

  /// parts: n.
  std::int32_t start(std::int32_t part) const noexcept { return static_cast<std::int32_t>(std::int64_t{part} * n / parts); }
  std::int32_t length(std::int32_t part) const noexcept { return start(part + 1) - start(part); }
  /// The part of a place, 0 .. n-1: the last that starts at the place or before it.
  std::int32_t part_of(std::int32_t place) const noexcept { return static_cast<std::int32_t>((std::int64_t{place + 1} * parts - 1) / n); }
};

}  // namespace torus
