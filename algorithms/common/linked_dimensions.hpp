/// The dimensions that have links.
#pragma once

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

}  // namespace torus
