#include "algorithms/reduction/spread_classes.hpp"

#include <algorithm>

namespace torus::reduction {

/// The shorter way from the root, + where both are alike.
std::int32_t SpreadClasses::offset(const Topology& topology, NodeId node, Dimension d) const noexcept {
  return topology.offset(d, topology.coordinate(root_, d), topology.coordinate(node, d));
}

namespace {
bool halfway(const Topology& topology, Dimension d, std::int32_t offset) {
  return topology.wiring(d) == Wiring::ring && 2 * offset == topology.extent(d);
}
}  // namespace

/// The direction in which the block of a node of a class takes dimension d.
std::int32_t SpreadClasses::sign(const Topology& topology, NodeId node, SpreadClass c, Dimension d) const noexcept {
  const Dimension k = topology.dimensions();
  const std::int32_t own = offset(topology, node, d);
  if (!halfway(topology, d, own)) return own > 0 ? 1 : -1;
  for (Dimension e = c / 2, i = 0; e != d; e = (e + 1) % k, ++i) {
    const std::int32_t before = offset(topology, node, e);
    if (before != 0 && !halfway(topology, e, before)) return 1;
  }
  return c % 2 == 0 ? 1 : -1;
}

std::vector<SpreadClass> SpreadClasses::classes_of(const Topology& topology, NodeId node) const {
  const Dimension k = topology.dimensions();
  std::vector<SpreadClass> out;
  for (Dimension d = 0; d < k; ++d) {
    if (offset(topology, node, d) == 0) continue;
    std::int32_t decides = 0;  // the first offset on the way that is not halfway
    for (Dimension i = 0; i < k && decides == 0; ++i) {
      const Dimension e = (d + i) % k;
      const std::int32_t next = offset(topology, node, e);
      if (!halfway(topology, e, next)) decides = next;
    }
    if (decides >= 0) out.push_back(static_cast<SpreadClass>(2 * d));
    if (decides <= 0) out.push_back(static_cast<SpreadClass>(2 * d + 1));
  }
  return out;
}

SpreadClasses::SpreadClasses(const Topology& topology, NodeId root)
    : root_{root}, class_(topology.nodes(), 0), leaving_(topology.nodes(), 0), passing_(topology.nodes(), 0) {
  std::vector<LeavingNode> nodes;
  std::size_t channels = 0;
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    if (node == root) continue;
    const std::int32_t distance = topology.distance(root, node);
    nodes.push_back({.rank = node, .distance = distance, .classes = classes_of(topology, node)});
  }
  topology.each_link(root, [&](Dimension, std::int32_t, NodeId) { ++channels; });
  std::stable_sort(nodes.begin(), nodes.end(), [](const LeavingNode& a, const LeavingNode& b) { return a.distance > b.distance; });
  const std::size_t classes = 2 * static_cast<std::size_t>(topology.dimensions());
  for (std::size_t i = 0; i < nodes.size(); ++i)
    steps_ = std::max(steps_, static_cast<Step>(static_cast<std::size_t>(nodes[i].distance) - 1 + i / channels + 1));
  while (!match_leaving_steps(nodes, steps_, classes)) ++steps_;
  leave(topology, nodes, classes);
}

void SpreadClasses::leave(const Topology& topology, const std::vector<LeavingNode>& nodes, std::size_t classes) {
  by_class_.resize(classes);
  steps_ = 0;
  for (const LeavingNode& node : nodes) {  // the farthest first
    class_[node.rank] = node.in;
    std::vector<NodeId>& line = by_class_[node.in];
    leaving_[node.rank] = static_cast<Step>(line.size());
    steps_ = std::max(steps_, leaving_[node.rank] + static_cast<Step>(node.distance));
    line.push_back(node.rank);
    NodeId at = root_;
    while (const auto leg = outwards(topology, at, node.rank)) {
      at = *topology.neighbour(at, leg->dimension, leg->hops);
      ++passing_[at];
    }
  }
}

std::vector<NodeId> SpreadClasses::leaving_in(Step step) const {
  std::vector<NodeId> out;
  for (const std::vector<NodeId>& line : by_class_) {
    if (step < line.size()) out.push_back(line[step]);
  }
  return out;
}

std::optional<Leg> SpreadClasses::outwards(const Topology& topology, NodeId at, NodeId node) const noexcept {
  const Dimension k = topology.dimensions();
  for (Dimension i = 0; i < k; ++i) {
    const Dimension d = (class_[node] / 2 + i) % k;
    if (topology.coordinate(at, d) != topology.coordinate(node, d)) return Leg{d, sign(topology, node, class_[node], d)};
  }
  return std::nullopt;
}

std::optional<Leg> SpreadClasses::inwards(const Topology& topology, NodeId at, NodeId node) const noexcept {
  const Dimension k = topology.dimensions();
  for (Dimension i = k; i-- > 0;) {
    const Dimension d = (class_[node] / 2 + i) % k;
    if (topology.coordinate(at, d) != topology.coordinate(root_, d)) return Leg{d, -sign(topology, node, class_[node], d)};
  }
  return std::nullopt;
}

Bytes SpreadClasses::table_bytes() const noexcept {
  return class_.size() * (sizeof(SpreadClass) + sizeof(Step) + sizeof(std::uint32_t) + sizeof(NodeId));
}

}  // namespace torus::reduction
