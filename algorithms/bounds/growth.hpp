/// Figures of shapes that bounds are made of: a shape as the product of its dimensions, the channels of its nodes, and how fast a message
/// can spread if only the number of messages that a node sends in a step limits it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include <torus/topology.hpp>

namespace torus {

/// Figures of one dimension alone, as exact integers. `n` >= 2.
struct Factor {
  std::uint64_t n;
  Wiring wiring;
  Dimension dimension;

  std::uint64_t ring_status() const { return n / 2 * ((n + 1) / 2); }  // floor(n^2 / 4)
  std::uint64_t least_status() const { return wiring == Wiring::complete ? n - 1 : ring_status(); }
  std::uint64_t greatest_status() const { return wiring == Wiring::line ? n * (n - 1) / 2 : least_status(); }
  /// Three times the average status, which on a line is (n^2-1)/3.
  std::uint64_t average_status_times_3() const { return wiring == Wiring::line ? n * n - 1 : 3 * least_status(); }
  /// Links over the cut between the two halves (the larger half less one node, if n is odd).
  std::uint64_t middle_cut() const {
    switch (wiring) {
      case Wiring::ring: return 2;
      case Wiring::line: return 1;
      case Wiring::complete: return ring_status();
    }
    return 1;
  }
  /// Links over the cut behind the first node.
  std::uint64_t end_cut() const { return wiring == Wiring::ring ? 2 : wiring == Wiring::line ? 1 : n - 1; }
  /// Nodes by their number of channels in this dimension.
  std::map<std::uint64_t, std::uint64_t> degrees() const {
    switch (wiring) {
      case Wiring::ring: return {{2, n}};
      case Wiring::complete: return {{n - 1, n}};
      case Wiring::line: break;
    }
    if (n == 2) return {{1, 2}};
    return {{1, 2}, {2, n - 2}};
  }
};

/// The dimensions that have links, as factors, ascending.
std::vector<Factor> factors(const Topology& topology);

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
