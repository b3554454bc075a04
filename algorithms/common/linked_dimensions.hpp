/// The dimensions that have links, and their extents.
#pragma once

#include <algorithm>
#include <vector>

#include <torus/topology.hpp>

namespace torus {

/// The dimensions of more than one node, ascending.
inline std::vector<Dimension> linked_dimensions(const Topology& topology) {
  std::vector<Dimension> linked;
  for (Dimension d = 0; d < topology.dimensions(); ++d) {
    if (topology.extent(d) > 1) linked.push_back(d);
  }
  return linked;
}

/// The largest extent; 1 for a single node.
inline std::int32_t largest_extent(const Topology& topology) noexcept {
  std::int32_t largest = 1;
  for (const DimensionShape& dimension : topology.shape()) largest = std::max(largest, dimension.extent);
  return largest;
}

}  // namespace torus
