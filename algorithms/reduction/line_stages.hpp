/// What the places of a line give away, stage by stage, until each has all that is meant for it.
#pragma once

#include <cstdint>
#include <numeric>
#include <utility>

#include <torus/topology.hpp>

#include "algorithms/common/integers.hpp"

namespace torus::reduction {

/// In stage e = reach .. 1 a place gives away what it has for the places e away: by the next hop, or straight there on a complete
/// dimension. Where the phase has more steps than that, each bundle is cut into chunks.
struct LineStages {
  LineStages(Dimension d, const DimensionShape& shape);

  /// A chunk of the bundle of place `to`.
  struct Leaving {
    std::int32_t hops;  // of the leg
    std::int32_t to;    // place
    std::int32_t chunk, chunks;
    int half;  // 0: whole; 1, 2: first, second half

    /// Its positions [first, second) in a bundle of so many blocks.
    std::pair<std::uint64_t, std::uint64_t> range(std::uint64_t size) const noexcept;
  };

  /// Calls f(leaving) for what a place gives away in a step of a phase of `steps`, reach or more.
  template <class F>
  void each_leaving(std::int32_t place, std::uint32_t steps, std::uint32_t step, F&& f) const;
  std::int32_t receiver(std::int32_t place, const Leaving& leaving) const noexcept;
  /// Calls f(sender) for the places that may give something to a place.
  template <class F>
  void each_sender(std::int32_t place, F&& f) const;

  Dimension dimension;
  DimensionShape line;
  std::int32_t reach;
};

/// A shorter axis cuts each bundle in c = L / gcd(L, r) chunks and does q = r / gcd(L, r) of its r c pairs (stage, chunk) a step, in order.
/// Chunk j of stage s and of stage s + 1 are c >= q pairs apart, so never in one step: what is passed on has arrived.
template <class F>
void LineStages::each_leaving(std::int32_t place, std::uint32_t steps, std::uint32_t step, F&& f) const {
  const std::int32_t n = line.extent;
  const auto all = static_cast<std::int32_t>(steps);
  const std::int32_t common = std::gcd(all, reach), chunks = all / common, pairs = reach / common;
  for (std::int32_t pair = pairs * static_cast<std::int32_t>(step); pair < pairs * static_cast<std::int32_t>(step + 1); ++pair) {
    const std::int32_t distance = reach - pair / chunks, chunk = pair % chunks;
    switch (line.wiring) {
      case Wiring::complete:
        for (std::int32_t to = 0; to < n; ++to) {
          if (to != place) f(Leaving{modulo(to - place, n), to, chunk, chunks, 0});
        }
        break;
      case Wiring::line:
        if (place + distance < n) f(Leaving{+1, place + distance, chunk, chunks, 0});
        if (place - distance >= 0) f(Leaving{-1, place - distance, chunk, chunks, 0});
        break;
      case Wiring::ring: {
        const bool antipode = 2 * distance == n;  // half by each way
        f(Leaving{-1, modulo(place - distance, n), chunk, chunks, antipode ? 1 : 0});
        f(Leaving{+1, modulo(place + distance, n), chunk, chunks, antipode ? 2 : 0});
        break;
      }
    }
  }
}

template <class F>
void LineStages::each_sender(std::int32_t place, F&& f) const {
  const std::int32_t n = line.extent;
  if (line.wiring == Wiring::complete) {
    for (std::int32_t sender = 0; sender < n; ++sender) f(sender);
    return;
  }
  f(modulo(place - 1, n));
  if (n > 2) f(modulo(place + 1, n));
}

}  // namespace torus::reduction
