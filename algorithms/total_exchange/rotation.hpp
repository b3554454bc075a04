/// Who travels in which dimension when, so that every dimension has something to carry all the time.
#pragma once

#include <cstdint>
#include <vector>

#include <torus/topology.hpp>

#include "algorithms/common/linked_dimensions.hpp"

namespace torus::exchange {

/// The classes fall into as many groups as there are dimensions with links: group(delta) = (sum of delta_i) mod k. In stage s = 0..k-1
/// group g travels in the (g + s) mod k-th of these dimensions.
class Rotation {
 public:
  explicit Rotation(const Topology& topology) : dimensions_{linked_dimensions(topology)}, group_(topology.nodes()) {
    if (dimensions_.empty()) return;
    for (NodeId delta = 0; delta < topology.nodes(); ++delta) {
      std::uint32_t sum = 0;
      for (const Dimension d : dimensions_) sum += static_cast<std::uint32_t>(topology.coordinate(delta, d));
      group_[delta] = sum % groups();
    }
  }

  std::uint32_t groups() const noexcept { return static_cast<std::uint32_t>(dimensions_.size()); }
  std::uint32_t group(NodeId delta) const noexcept { return group_[delta]; }
  Dimension dimension(NodeId delta, std::uint32_t stage) const noexcept { return dimensions_[(group_[delta] + stage) % groups()]; }

 private:
  std::vector<Dimension> dimensions_;
  std::vector<std::uint32_t> group_;
};

}  // namespace torus::exchange
