/// The channels of a machine that are alive, and distances over them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <torus/route.hpp>
#include <torus/topology.hpp>

namespace torus {

/// Calls f(from, dimension, hop, to) for each living channel, node by node in the order of their slots.
template <class F>
void each_living_channel(const Topology& topology, F&& f) {
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    if (topology.living(node)) topology.each_link(node, [&](Dimension d, std::int32_t hop, NodeId to) { f(node, d, hop, to); });
  }
}

/// The living channels, numbered node by node in the order of their slots.
class LivingChannels {
 public:
  struct Channel {
    NodeId from, to;
    Leg leg;
  };

  explicit LivingChannels(const Topology& topology) : first_(std::size_t{topology.nodes()} + 1) {
    for (NodeId node = 0; node < topology.nodes(); ++node) {
      if (topology.living(node))
        topology.each_link(node, [&](Dimension d, std::int32_t hop, NodeId to) { channels_.push_back({node, to, {d, hop}}); });
      first_[node + 1] = count();
    }
  }

  NodeId nodes() const noexcept { return static_cast<NodeId>(first_.size() - 1); }
  std::uint32_t count() const noexcept { return static_cast<std::uint32_t>(channels_.size()); }
  const Channel& operator[](std::uint32_t channel) const noexcept { return channels_[channel]; }
  /// Calls f(channel) for each that leaves a node. As many enter it, since a link has one each way.
  template <class F>
  void each_of(NodeId node, F&& f) const {
    for (std::uint32_t channel = first_[node]; channel < first_[node + 1]; ++channel) f(channel);
  }
  std::uint32_t count_of(NodeId node) const noexcept { return first_[node + 1] - first_[node]; }
  std::uint32_t first_of(NodeId node) const noexcept { return first_[node]; }

 private:
  std::vector<Channel> channels_;
  std::vector<std::uint32_t> first_;  // by node
};

/// Hops of a shortest way over living channels from a living node to each other, by rank; -1 for dead ones. As many the other way round.
/// O(channels).
inline std::vector<std::int32_t> living_hops(const Topology& topology, NodeId from) {
  std::vector<std::int32_t> hops(topology.nodes(), -1);
  hops[from] = 0;
  std::vector<NodeId> queue{from};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const NodeId node = queue[i];
    topology.each_link(node, [&](Dimension, std::int32_t, NodeId to) {
      if (hops[to] >= 0) return;
      hops[to] = hops[node] + 1;
      queue.push_back(to);
    });
  }
  return hops;
}

/// Hops between the two living nodes that are farthest apart. O(1) on a whole shape, else O(nodes channels).
inline std::int32_t living_diameter(const Topology& topology) {
  if (topology.whole()) return topology.diameter();
  std::int32_t most = 0;
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    if (topology.living(node)) most = std::max(most, topology.eccentricity(node));
  }
  return most;
}

}  // namespace torus
