/// What the places of a line give away, stage by stage, until each has all that is meant for it.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <torus/topology.hpp>

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

  /// What a place gives away in a step of a phase of `steps`, reach or more.
  std::vector<Leaving> leaving(std::int32_t place, std::uint32_t steps, std::uint32_t step) const;
  std::int32_t receiver(std::int32_t place, const Leaving& leaving) const noexcept;
  /// The places that may give something to a place.
  std::vector<std::int32_t> senders(std::int32_t place) const;

  Dimension dimension;
  DimensionShape line;
  std::int32_t reach;
};

}  // namespace torus::reduction
