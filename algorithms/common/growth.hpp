/// How fast a message can spread if only the number of messages that a node sends in a step limits it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include <torus/topology.hpp>

namespace torus {

/// How many nodes can send how many messages a step: min(ports, channels) -> nodes, the most first.
using Senders = std::map<std::uint64_t, std::uint64_t, std::greater<>>;

/// The senders of a shape, of living nodes by their living channels. O(dimensions + faults).
Senders senders(const Topology& topology, std::uint64_t ports);
/// The dead nodes and all ends of links that are dead or slow, ascending. O(faults log faults).
std::vector<NodeId> touched_nodes(const Topology& topology);
/// Nodes at most 0, 1, .. hops from a node, exact below 2^53.
std::vector<double> nodes_within(const Topology& topology, NodeId from);

/// The living nodes, ascending.
std::vector<NodeId> living_ranks(const Topology& topology);

/// Living channels that leave a node.
inline std::uint64_t channels_of(const Topology& topology, NodeId node) {
  std::uint64_t count = 0;
  if (!topology.whole()) {
    topology.each_link(node, [&](Dimension, std::int32_t, NodeId) { ++count; });
    return count;
  }
  for (Dimension d = 0; d < topology.dimensions(); ++d) {
    const std::int32_t n = topology.extent(d);
    if (n == 1) continue;
    const std::int32_t c = topology.coordinate(node, d);
    switch (topology.wiring(d)) {
      case Wiring::ring: count += 2; break;
      case Wiring::line: count += (c > 0 ? 1U : 0U) + (c < n - 1 ? 1U : 0U); break;
      case Wiring::complete: count += static_cast<std::uint64_t>(n) - 1; break;
    }
  }
  return count;
}

/// The most nodes that can be informed after 0, 1, .. steps, until all are. `uninformed` holds all nodes; the root, one of them, sends
/// `first` messages a step. Nodes that can send the most are informed first. At least one node can send.
inline std::vector<std::uint64_t> growth(Senders uninformed, std::uint64_t first) {
  if (--uninformed[first] == 0) uninformed.erase(first);
  std::vector<std::uint64_t> informed{1};
  std::uint64_t messages = first;  // that all informed nodes together send in a step
  while (!uninformed.empty()) {
    std::uint64_t sent = messages;
    informed.push_back(informed.back());
    while (sent > 0 && !uninformed.empty()) {
      const auto best = uninformed.begin();
      const std::uint64_t count = std::min(sent, best->second);
      informed.back() += count;
      messages += count * best->first;
      sent -= count;
      if ((best->second -= count) == 0) uninformed.erase(best);
    }
  }
  return informed;
}

}  // namespace torus
