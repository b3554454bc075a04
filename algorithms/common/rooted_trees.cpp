#include "algorithms/common/rooted_trees.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "algorithms/common/linked_dimensions.hpp"

namespace torus {
namespace {

SpanningTrees trees_of(const Topology& topology, std::span<const Dimension> axes) {
  std::vector<std::int32_t> sides;
  for (const Dimension d : axes) sides.push_back(topology.extent(d));
  return SpanningTrees::of(sides);
}

}  // namespace

RootedTrees::RootedTrees(const Topology& topology) : axes_{linked_dimensions(topology)}, trees_{trees_of(topology, axes_)} {
  children_.assign(std::size_t{trees_.nodes()} * trees_.trees(), 0);
  for (std::uint32_t node = 1; node < trees_.nodes(); ++node) {
    for (std::uint32_t r = 0; r < trees_.trees(); ++r) {
      const Direction d = trees_.entry(node, r);
      std::uint16_t& mask = children_[std::size_t{trees_.step(node, reverse(d))} * trees_.trees() + r];
      mask = static_cast<std::uint16_t>(mask | (1U << d));
    }
  }
}

std::uint16_t RootedTrees::onward(const Topology& topology, NodeId at, BlockId block, std::uint32_t segments) const noexcept {
  if (axes_.empty()) return 0;
  const auto source = static_cast<NodeId>(block / segments);
  const auto tree = static_cast<std::uint32_t>(block % segments) % trees_.trees();
  std::size_t displacement = 0;
  for (const Dimension d : axes_) {
    const std::int32_t n = topology.extent(d), offset = topology.coordinate(at, d) - topology.coordinate(source, d);
    displacement = displacement * static_cast<std::size_t>(n) + static_cast<std::size_t>(offset < 0 ? offset + n : offset);
  }
  return children_[displacement * trees_.trees() + tree];
}

std::uint32_t RootedTrees::shares(const Topology& topology) {
  return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(2 * linked_dimensions(topology).size()));
}

std::optional<Refusal> RootedTrees::refuses(std::string_view algorithm, const Topology& topology) {
  constexpr std::size_t most_axes = 8;
  const std::vector<Dimension> axes = linked_dimensions(topology);
  if (axes.size() <= most_axes) return std::nullopt;
  std::vector<DimensionShape> first;
  for (std::size_t i = 0; i < most_axes; ++i) first.push_back(topology.shape()[static_cast<std::size_t>(axes[i])]);
  return Refusal{Refusal::About::shape, topology.text(),
                 std::string(algorithm) + " takes at most " + std::to_string(most_axes) + " dimensions of more than one node",
                 Topology(std::move(first)).text()};
}

// A byte a node and tree for the entry, 2 for the children, 4 for the depth.
Bytes RootedTrees::planning_bytes(const Topology& topology) { return Bytes{7} * topology.nodes() * shares(topology); }

}  // namespace torus
