/// Displacements round a ring, the short way.
#pragma once

#include <cstdint>

#include <torus/topology.hpp>

namespace torus {

/// The representative of x modulo n in window(n) = -floor((n-1)/2) .. floor(n/2).
constexpr std::int32_t centred(std::int64_t x, std::int32_t n) noexcept {
  const std::int32_t r = modulo(x, n);
  return r > n / 2 ? r - n : r;
}

}  // namespace torus
