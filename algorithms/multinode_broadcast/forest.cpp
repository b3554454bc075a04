#include "algorithms/multinode_broadcast/forest.hpp"

#include <algorithm>

#include "algorithms/common/linked_dimensions.hpp"
#include "algorithms/multinode_broadcast/forecast.hpp"

namespace torus::multinode {
namespace {

SpanningTrees trees_of(const Topology& topology, std::span<const Dimension> axes) {
  std::vector<std::int32_t> sides;
  for (const Dimension d : axes) sides.push_back(topology.extent(d));
  return SpanningTrees::of(sides);
}

}  // namespace

Forest::Forest(const Topology& topology, std::uint32_t segments)
    : axes_{linked_dimensions(topology)}, trees_{trees_of(topology, axes_)}, segments_{segments} {
  children_.assign(std::size_t{trees_.nodes()} * trees_.trees(), 0);
  for (std::uint32_t node = 1; node < trees_.nodes(); ++node) {
    for (std::uint32_t r = 0; r < trees_.trees(); ++r) {
      const Direction d = trees_.entry(node, r);
      std::uint16_t& mask = children_[std::size_t{trees_.step(node, reverse(d))} * trees_.trees() + r];
      mask = static_cast<std::uint16_t>(mask | (1U << d));
    }
  }
  for (const Dimension d : axes_) counting_.push_back(LineTree::line(3, topology.extent(d)));
}

std::uint32_t Forest::counting_steps() const noexcept {
  std::int32_t steps = 0;
  for (const LineTree& tree : counting_) steps += 2 * tree.levels();
  return static_cast<std::uint32_t>(steps);
}

std::uint16_t Forest::onward(const Topology& topology, NodeId at, BlockId block) const noexcept {
  if (axes_.empty()) return 0;
  const auto source = static_cast<NodeId>(block / segments_);
  const auto tree = static_cast<std::uint32_t>(block % segments_) % trees_.trees();
  std::size_t displacement = 0;
  for (const Dimension d : axes_) {
    const std::int32_t n = topology.extent(d), offset = topology.coordinate(at, d) - topology.coordinate(source, d);
    displacement = displacement * static_cast<std::size_t>(n) + static_cast<std::size_t>(offset < 0 ? offset + n : offset);
  }
  return children_[displacement * trees_.trees() + tree];
}

double Forest::channel_bytes(double s, Bytes m) const {
  const std::uint32_t trees = trees_.trees();
  const double nodes = trees_.nodes(), share = s / nodes;
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
  const std::vector<std::uint32_t> depths = trees_.depths();
  for (std::uint32_t node = 1; node < trees_.nodes(); ++node) {
    for (std::uint32_t r = 0; r < trees; ++r) {
      Load& load = loads[std::size_t{depths[std::size_t{node} * trees + r]} * trees + trees_.entry(node, r)];
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
