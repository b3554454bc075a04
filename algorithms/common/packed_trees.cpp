#include "algorithms/common/packed_trees.hpp"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/common/shapes.hpp"
#include "algorithms/common/tree_growth.hpp"

namespace torus {
namespace {

/// Where a tree stands: its nodes in the order in which they came, the next that may have children, and its next arc.
struct Front {
  std::vector<NodeId> nodes;
  std::size_t next = 0, level_end = 1;
  std::uint32_t tried = 0;
};

ArcTrees search(const Topology& topology, NodeId root) {
  TreeGrowth growth(topology, root);
  ArcTrees trees(topology, root, growth.trees());
  std::vector<Front> fronts(growth.trees(), Front{{root}});
  /// The next arc that the tree may have on this level.
  const auto add_one = [&](std::uint32_t r) {
    Front& front = fronts[r];
    for (; front.next < front.level_end; ++front.next, front.tried = 0) {
      const NodeId from = front.nodes[front.next];
      const std::uint32_t first = growth.first_out(from), count = growth.first_out(from + 1) - first;
      while (front.tried < count) {
        const std::uint32_t a = first + (r + front.tried++) % count;  // each tree first into another direction
        if (!growth.add(a, r)) continue;
        trees.add(topology, r, from, growth.arc(a).leg, growth.arc(a).to);
        front.nodes.push_back(growth.arc(a).to);
        return true;
      }
    }
    return false;
  };
  for (bool grown = true; grown;) {
    for (bool more = true; more;) {
      more = false;
      for (std::uint32_t r = 0; r < growth.trees(); ++r) more = add_one(r) || more;
    }
    grown = false;
    for (Front& front : fronts) {
      grown = grown || front.level_end < front.nodes.size();
      front.level_end = front.nodes.size();
    }
  }
  return trees;
}

}  // namespace

std::shared_ptr<const ArcTrees> packed_trees(const Topology& topology, NodeId root, PlanCache& cache) {
  return cache.of<search>(topology, root);
}

NodeId centre_of(const Topology& topology) {
  NodeId centre = 0;
  std::int32_t least = std::numeric_limits<std::int32_t>::max();
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    if (!topology.living(node)) continue;
    const std::int32_t farthest = topology.eccentricity(node);
    if (farthest >= least) continue;
    least = farthest;
    centre = node;
  }
  return centre;
}

// An arc is in the list, in a list of heads, and in three small tables.
Bytes packing_bytes(const Topology& topology) {
  constexpr Bytes of_an_arc = sizeof(TreeGrowth::Arc) + 2 * sizeof(std::uint32_t) + 2, of_a_node = 128;
  const auto arcs = Bytes{topology.nodes()} * static_cast<Bytes>(topology.max_ports());
  return arcs * of_an_arc + topology.nodes() * of_a_node + ArcTrees::table_bytes(topology, ArcTrees::most(topology));
}

std::optional<Refusal> too_large_to_pack(std::string_view algorithm, const Topology& topology) {
  constexpr NodeId most_nodes = 1024;
  constexpr std::uint64_t most_channels = 8192;
  const auto fits = [](const Topology& t) {
    return t.nodes() <= most_nodes && std::uint64_t{t.nodes()} * static_cast<std::uint64_t>(t.max_ports()) <= most_channels;
  };
  if (fits(topology)) return std::nullopt;
  return Refusal{Refusal::About::shape, topology.text(),
                 std::string(algorithm) + " searches machines of up to " + std::to_string(most_nodes) + " nodes and " +
                     std::to_string(most_channels) + " channels",
                 smaller(topology, fits).text()};
}

}  // namespace torus
