#include "algorithms/reduction/class_neighbours.hpp"

#include <algorithm>

namespace torus::reduction {

ClassNeighbours::ClassNeighbours(const Topology& topology, const Sublattice& classes) : topology_{&topology} {
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    displacements_.push_back({node, topology.distance(0, node), node});
    coordinates_.push_back(topology.coordinates(node));
    class_of_.push_back(classes.coset(coordinates_.back()));
  }
  std::stable_sort(displacements_.begin(), displacements_.end(), [](const Near& a, const Near& b) { return a.distance < b.distance; });
}

Bytes ClassNeighbours::bytes(const Topology& topology) noexcept {
  constexpr Bytes near_a_node = 64;
  return Bytes{topology.nodes()} * (sizeof(Coordinates) + near_a_node * sizeof(Near));
}

NodeId ClassNeighbours::shifted(NodeId from, NodeId displacement) const noexcept {
  const Coordinates &a = coordinates_[from], &b = coordinates_[displacement];
  NodeId to = 0;
  for (Dimension d = 0; d < topology_->dimensions(); ++d) {
    const auto i = static_cast<std::size_t>(d);
    const std::int32_t x = a[i] + b[i], n = topology_->extent(d);
    to += static_cast<NodeId>(x < n ? x : x - n) * topology_->stride(d);
  }
  return to;
}

Neighbourhood ClassNeighbours::around(const std::vector<bool>& active, const std::vector<bool>& kept, std::size_t enough) const {
  Neighbourhood out;
  for (NodeId node = 0; node < active.size(); ++node) {
    if (!active[node]) continue;
    out.nodes.push_back(node);
    std::vector<Near>& near = out.near.emplace_back();
    for (std::size_t i = 1; i < displacements_.size() && near.size() < enough; ++i) {
      const NodeId other = shifted(node, displacements_[i].node);
      if (active[other] && !kept[other] && class_of_[other] == class_of_[node])
        near.push_back({other, displacements_[i].distance, displacements_[i].node});
    }
  }
  return out;
}

}  // namespace torus::reduction
