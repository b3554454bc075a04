/// Searches over living links: of the whole machine from a node, and near two nodes, for around a hole a way of some hops is there
/// almost always.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include <torus/topology.hpp>

namespace torus {

/// Searches from both nodes, breadth first, the side with the shorter front first. true: they meet; false: one side is all there is, so
/// that no way joins them; nothing: `most_nodes` were seen without either. `each_neighbour(node, f)` calls f(neighbour), the same both
/// ways. O(most_nodes) links, whatever the size of the machine.
template <class EachNeighbour>
std::optional<bool> connected_nearby(NodeId a, NodeId b, std::size_t most_nodes, EachNeighbour&& each_neighbour) {
  struct Side {
    std::unordered_set<NodeId> seen;
    std::vector<NodeId> front;
  };
  if (a == b) return true;
  std::array<Side, 2> sides{Side{{a}, {a}}, Side{{b}, {b}}};
  while (sides[0].seen.size() + sides[1].seen.size() < most_nodes) {
    const bool second = sides[1].front.size() < sides[0].front.size();
    Side &side = sides[second ? 1 : 0], &other = sides[second ? 0 : 1];
    std::vector<NodeId> next;
    bool met = false;
    for (const NodeId node : side.front) {
      each_neighbour(node, [&](NodeId to) {
        met = met || other.seen.contains(to);
        if (side.seen.insert(to).second) next.push_back(to);
      });
      if (met) return true;
    }
    if (next.empty()) return false;
    side.front = std::move(next);
  }
  return std::nullopt;
}

/// Nodes that a search from `from` reaches over living links, with their distances; unreached: -1. Calls f for each in order of distance.
template <class F>
std::vector<std::int32_t> search(const Topology& topology, NodeId from, F&& f) {
  std::vector<std::int32_t> distance(topology.nodes(), -1);
  std::vector<NodeId> queue{from};
  distance[from] = 0;
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const NodeId node = queue[head];
    f(node, distance[node]);
    topology.each_link(node, [&](Dimension, std::int32_t, NodeId to) {
      if (distance[to] >= 0) return;
      distance[to] = distance[node] + 1;
      queue.push_back(to);
    });
  }
  return distance;
}

}  // namespace torus
