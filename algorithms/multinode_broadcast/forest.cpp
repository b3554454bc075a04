#include "algorithms/multinode_broadcast/forest.hpp"

#include <algorithm>

#include "algorithms/multinode_broadcast/forecast.hpp"

namespace torus::multinode {

Forest::Forest(const Topology& topology, std::uint32_t segments) : trees_{topology}, segments_{segments} {
  for (const Dimension d : trees_.axes()) counting_.push_back(LineTree::line(3, topology.extent(d)));
}

std::uint32_t Forest::counting_steps() const noexcept {
  std::int32_t steps = 0;
  for (const LineTree& tree : counting_) steps += 2 * tree.levels();
  return static_cast<std::uint32_t>(steps);
}

double Forest::channel_bytes(double s, Bytes m) const {
  const SpanningTrees& of_node_0 = trees_.of_node_0();
  const std::uint32_t trees = trees_.trees();
  const double nodes = of_node_0.nodes(), share = s / nodes;
  if (trees == 0) return 0;
  std::vector<double> weight(trees, 0);  // of a message's segments on each tree
  for (std::uint32_t y = 0; y < segments_; ++y) {
    const Bytes segment = m / segments_ + (y < m % segments_ ? 1 : 0);
    weight[y % trees] += static_cast<double>(segment);
  }
  // How many arcs of each direction lie at each depth, and what they carry if all are sources: by symmetry, what a channel carries.
  struct Load {
    double arcs = 0, bytes = 0;
  };
  std::vector<Load> loads(std::size_t{height() + 1} * trees);
  const std::vector<std::uint32_t> depths = of_node_0.depths();
  for (std::uint32_t node = 1; node < of_node_0.nodes(); ++node) {
    for (std::uint32_t r = 0; r < trees; ++r) {
      Load& load = loads[std::size_t{depths[std::size_t{node} * trees + r]} * trees + of_node_0.entry(node, r)];
      load.arcs += 1;
      load.bytes += weight[r];
    }
  }
  double sum = 0;
  for (std::uint32_t depth = 1; depth <= height(); ++depth) {
    double most = 0;
    for (std::uint32_t d = 0; d < trees; ++d) {
      const Load& load = loads[std::size_t{depth} * trees + d];
      if (load.arcs > 0) most = std::max(most, load.bytes / load.arcs * fullest(load.arcs * share, nodes * trees, load.arcs));
    }
    sum += most;
  }
  return sum;
}

}  // namespace torus::multinode
