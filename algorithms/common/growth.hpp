/// How fast a message can spread if all that counts is how many others a node can tell in a step.
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

/// Channels that leave a node.
inline std::uint64_t channels_of(const Topology& topology, NodeId node) {
  std::uint64_t count = 0;
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

/// How many nodes can know after 0, 1, .. steps, until all do: at first one does, which sends `first` messages a step and stands among the
/// `untold` too; then those who can send the most are told first. At least one node can send.
inline std::vector<std::uint64_t> growth(Senders untold, std::uint64_t first) {
  if (--untold[first] == 0) untold.erase(first);
  std::vector<std::uint64_t> know{1};
  std::uint64_t messages = first;  // that all told nodes together send in a step
  while (!untold.empty()) {
    std::uint64_t sent = messages;
    know.push_back(know.back());
    while (sent > 0 && !untold.empty()) {
      const auto best = untold.begin();
      const std::uint64_t told = std::min(sent, best->second);
      know.back() += told;
      messages += told * best->first;
      sent -= told;
      if ((best->second -= told) == 0) untold.erase(best);
    }
  }
  return know;
}

}  // namespace torus
