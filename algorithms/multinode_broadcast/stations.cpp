#include "algorithms/multinode_broadcast/stations.hpp"

#include <algorithm>

#include "algorithms/common/integers.hpp"

namespace torus::multinode_broadcast {

Stations::Stations(const Topology& topology, std::int32_t h) : h_{h} {
  for (const DimensionShape& dimension : topology.shape()) {
    extents_.push_back(dimension.extent);
    even_ &= dimension.extent % h == 0;
  }
  for (Dimension d = 0; d < topology.dimensions(); ++d) {
    std::vector<std::int32_t>& places = places_.emplace_back();
    std::vector<std::int32_t>& indices = indices_.emplace_back(static_cast<std::size_t>(extent(d)), -1);
    const EqualParts parts{extent(d), windows(d)};
    for (std::int32_t window = 0; window < parts.parts; ++window) {
      for (std::int64_t c = 0; c < h; ++c) {
        const auto place = parts.start(window) + static_cast<std::int32_t>((c * parts.length(window) + h - 1) / h);
        indices[static_cast<std::size_t>(place)] = static_cast<std::int32_t>(places.size());
        places.push_back(place);
      }
    }
    for (std::int32_t i = 0; i < stations(d); ++i) longest_gap_ = std::max(longest_gap_, gap(d, i));
  }
}

std::int32_t Stations::place(Dimension d, std::int32_t index) const noexcept {
  return places_[static_cast<std::size_t>(d)][static_cast<std::size_t>(modulo(index, stations(d)))];
}

std::optional<std::int32_t> Stations::index(Dimension d, std::int32_t place) const noexcept {
  const std::int32_t index = indices_[static_cast<std::size_t>(d)][static_cast<std::size_t>(modulo(place, extent(d)))];
  return index < 0 ? std::nullopt : std::optional(index);
}

std::int32_t Stations::hops(Dimension d, std::int32_t index, std::int32_t further) const noexcept {
  if (further == 0) return 0;
  const std::int32_t there = place(d, index + further) - place(d, index), up = modulo(there, extent(d));
  if (further > 0) return up == 0 ? extent(d) : up;
  return up == 0 ? -extent(d) : up - extent(d);
}

Station::Station(const Node& self, const Stations& stations) : stations_{stations} {
  for (Dimension d = 0; d < self.dimensions(); ++d) {
    indices_.push_back(stations.index(d, self.coordinate(d)));
    member_ &= indices_.back().has_value();
  }
}

Coordinates Station::coordinates() const {
  Coordinates at;
  for (const std::optional<std::int32_t>& index : indices_) at.push_back(index.value_or(0));
  return at;
}

Leg Station::real(Leg leg) const noexcept { return {leg.dimension, stations_.hops(leg.dimension, coordinate(leg.dimension), leg.hops)}; }

}  // namespace torus::multinode_broadcast
