#include "algorithms/reduction/spread_classes.hpp"

#include <algorithm>

namespace torus::reduction {
namespace {

bool halfway(const Topology& topology, Dimension d, std::int32_t offset) {
  return topology.wiring(d) == Wiring::ring && 2 * offset == topology.extent(d);
}

struct LeavingNode {
  NodeId rank = 0;
  std::int32_t distance = 0;         // from the root
  std::vector<SpreadClass> classes;  // that it may belong to
  SpreadClass in = 0;                // the one that it belongs to, and the step in which it leaves
  Step step = 0;
};

/// The steps taken of a class are its first.
struct Matching {
  Matching(std::vector<LeavingNode>& all, Step most, std::size_t classes) : nodes{all}, steps{most}, taken(classes), wanted(classes) {}

  /// The last step in which a node may leave.
  std::size_t last(std::size_t node) const { return steps - static_cast<std::size_t>(nodes[node].distance); }
  /// Gives a node the step, in place of the node that has it.
  void put(std::size_t node, SpreadClass c, std::size_t step) {
    if (step == taken[c].size()) taken[c].push_back(0);
    taken[c][step] = node;
    nodes[node].in = c;
    nodes[node].step = static_cast<Step>(step);
  }
  /// Finds a step for a node, breadth first; others may have to change to other classes. False if there is none.
  bool place(std::size_t node) {
    for (std::vector<std::size_t>& each : wanted) each.clear();
    std::vector<std::size_t> moving{node};
    for (std::size_t at = 0; at < moving.size(); ++at) {
      std::size_t mover = moving[at];
      std::vector<SpreadClass> by_size = nodes[mover].classes;
      std::stable_sort(by_size.begin(), by_size.end(), [&](SpreadClass a, SpreadClass b) { return taken[a].size() < taken[b].size(); });
      for (SpreadClass c : by_size) {
        std::size_t step = taken[c].size();
        if (step > last(mover)) {  // full: a node whose step would do may move
          for (std::size_t t = wanted[c].size(); t <= last(mover); ++t) {
            wanted[c].push_back(mover);
            moving.push_back(taken[c][t]);
          }
          continue;
        }
        while (true) {
          const SpreadClass before = nodes[mover].in;
          const std::size_t step_before = nodes[mover].step;
          put(mover, c, step);
          if (mover == node) return true;
          c = before;
          step = step_before;
          mover = wanted[c][step];
        }
      }
    }
    return false;
  }

  std::vector<LeavingNode>& nodes;
  std::size_t steps;
  std::vector<std::vector<std::size_t>> taken;   // by class and step: the node
  std::vector<std::vector<std::size_t>> wanted;  // by class and step: the node that would take it
};

/// Gives each node, the farthest first, a class and a step, so that all arrive within `steps`. False if that is impossible.
bool match_leaving_steps(std::vector<LeavingNode>& nodes, Step steps, std::size_t classes) {
  Matching matching(nodes, steps, classes);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!matching.place(i)) return false;
  }
  return true;
}

}  // namespace

/// The shorter way from the root, + where both are alike.
std::int32_t SpreadClasses::offset(const Topology& topology, NodeId node, Dimension d) const noexcept {
  return topology.offset(d, topology.coordinate(root_, d), topology.coordinate(node, d));
}

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
  by_class_.resize(classes);
  steps_ = 0;
  for (const LeavingNode& node : nodes) {
    class_[node.rank] = node.in;
    leave(topology, node.rank);
  }
}

void SpreadClasses::leave(const Topology& topology, NodeId node) {
  std::vector<NodeId>& line = by_class_[class_[node]];
  leaving_[node] = static_cast<Step>(line.size());
  steps_ = std::max(steps_, leaving_[node] + static_cast<Step>(topology.distance(root_, node)));
  line.push_back(node);
  NodeId at = root_;
  while (const auto leg = outwards(topology, at, node)) {
    at = *topology.neighbour(at, leg->dimension, leg->hops);
    ++passing_[at];
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
