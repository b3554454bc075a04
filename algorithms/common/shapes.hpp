/// Shapes: the dimensions that have links, and shapes near another one, for refusals that name one that would do.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <torus/topology.hpp>

#include "runtime/base/figures.hpp"

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

/// "1 dead link, 0 dead nodes": what a refusal for them names.
inline std::string dead_text(const Faults& faults) {
  return counted(faults.dead_links.size(), "dead link") + ", " + counted(faults.dead_nodes.size(), "dead node");
}

/// The topology with change(DimensionShape&) applied to each dimension.
template <class Change>
Topology changed(const Topology& topology, Change&& change) {
  std::vector<DimensionShape> shape(topology.shape().begin(), topology.shape().end());
  for (DimensionShape& dimension : shape) change(dimension);
  return Topology(std::move(shape));
}

/// A smaller topology that fits: the largest extents are halved until fits(topology) holds; dimensions of at most 2 nodes are left out,
/// the last first. Equal extents stay equal.
template <class Fits>
Topology smaller(Topology topology, Fits&& fits) {
  while (topology.nodes() > 1 && !fits(topology)) {
    std::vector<DimensionShape> shape(topology.shape().begin(), topology.shape().end());
    const std::int32_t largest = largest_extent(topology);
    if (largest <= 2 && shape.size() > 1) {
      shape.pop_back();
    } else {
      for (DimensionShape& dimension : shape) dimension.extent = dimension.extent == largest ? std::max(1, largest / 2) : dimension.extent;
    }
    topology = Topology(std::move(shape));
  }
  return topology;
}

}  // namespace torus
