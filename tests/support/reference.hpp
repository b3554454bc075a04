/// Slow, obvious references: what the definitions say, with no formula in them.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <vector>

#include <torus/topology.hpp>

namespace torus::support {

/// One channel out of a node, found by walking.
struct Channel {
  Dimension dimension;
  std::int32_t direction;
  NodeId to;
};

/// Coordinates by repeated division, last dimension first.
inline std::vector<std::int32_t> coordinates_of(const Topology& topology, NodeId rank) {
  std::vector<std::int32_t> out(static_cast<std::size_t>(topology.dimensions()));
  for (Dimension d = topology.dimensions() - 1; d >= 0; --d) {
    const auto n = static_cast<NodeId>(topology.extent(d));
    out[static_cast<std::size_t>(d)] = static_cast<std::int32_t>(rank % n);
    rank /= n;
  }
  return out;
}

inline NodeId rank_of(const Topology& topology, const std::vector<std::int32_t>& coordinates) {
  NodeId rank = 0;
  for (Dimension d = 0; d < topology.dimensions(); ++d) {
    rank = rank * static_cast<NodeId>(topology.extent(d)) + static_cast<NodeId>(coordinates[static_cast<std::size_t>(d)]);
  }
  return rank;
}

/// Every channel that leaves a node: on a ring both ways (also in a ring of two), on a line where there is a next node, on a complete
/// dimension to every other node.
inline std::vector<Channel> channels_of(const Topology& topology, NodeId node) {
  std::vector<Channel> out;
  for (Dimension d = 0; d < topology.dimensions(); ++d) {
    const std::int32_t n = topology.extent(d);
    const std::vector<std::int32_t> here = coordinates_of(topology, node);
    const std::int32_t x = here[static_cast<std::size_t>(d)];
    const auto to = [&](std::int32_t y) {
      std::vector<std::int32_t> there = here;
      there[static_cast<std::size_t>(d)] = y;
      return rank_of(topology, there);
    };
    if (n == 1) continue;
    switch (topology.wiring(d)) {
      case Wiring::ring:
        out.push_back({d, +1, to(x + 1 < n ? x + 1 : 0)});
        out.push_back({d, -1, to(x > 0 ? x - 1 : n - 1)});
        break;
      case Wiring::line:
        if (x + 1 < n) out.push_back({d, +1, to(x + 1)});
        if (x > 0) out.push_back({d, -1, to(x - 1)});
        break;
      case Wiring::complete:
        for (std::int32_t offset = 1; offset < n; ++offset) out.push_back({d, offset, to((x + offset) % n)});
        break;
    }
  }
  return out;
}

/// Hops from a node to every node, by breadth-first search.
inline std::vector<std::int32_t> distances_from(const Topology& topology, NodeId from) {
  std::vector<std::int32_t> distance(topology.nodes(), -1);
  std::deque<NodeId> queue{from};
  distance[from] = 0;
  while (!queue.empty()) {
    const NodeId at = queue.front();
    queue.pop_front();
    for (const Channel& channel : channels_of(topology, at)) {
      if (distance[channel.to] >= 0) continue;
      distance[channel.to] = distance[at] + 1;
      queue.push_back(channel.to);
    }
  }
  return distance;
}

}  // namespace torus::support
