#include "algorithms/total_exchange/offsets.hpp"

namespace torus::exchange {

Offsets::Offsets(const Topology& topology) : nodes_{topology.nodes()} {
  for (Dimension d = 0; d < topology.dimensions(); ++d) {
    if (topology.extent(d) > 1) turn_.push_back(static_cast<std::uint32_t>(topology.extent(d)) * topology.stride(d));
  }
  parts_.reserve(std::size_t{nodes_} * turn_.size());
  for (NodeId x = 0; x < nodes_; ++x) {
    for (Dimension d = 0; d < topology.dimensions(); ++d) {
      if (topology.extent(d) > 1) parts_.push_back(static_cast<std::uint32_t>(topology.coordinate(x, d)) * topology.stride(d));
    }
  }
}

}  // namespace torus::exchange
