#include "algorithms/bounds/growth.hpp"

#include "algorithms/common/shapes.hpp"

namespace torus {
namespace {

void add_ends(const Topology& topology, const Link& link, std::vector<NodeId>& nodes) {
  nodes.push_back(link.node);
  nodes.push_back(*topology.neighbour(link.node, link.dimension, link.hop));
}

}  // namespace

std::vector<Factor> factors(const Topology& topology) {
  std::vector<Factor> result;
  for (const Dimension d : linked_dimensions(topology)) {
    result.push_back({static_cast<std::uint64_t>(topology.extent(d)), topology.wiring(d), d});
  }
  return result;
}

Senders senders(const Topology& topology, std::uint64_t ports) {
  std::map<std::uint64_t, std::uint64_t> degrees{{0, 1}};
  for (const Factor& f : factors(topology)) {
    std::map<std::uint64_t, std::uint64_t> product;
    for (const auto& [degree, nodes] : degrees) {
      for (const auto& [more, times] : f.degrees()) product[degree + more] += nodes * times;
    }
    degrees = std::move(product);
  }
  Senders result;
  for (const auto& [degree, nodes] : degrees) result[std::min(degree, ports)] += nodes;
  if (topology.whole()) return result;
  const Topology whole = topology.with_faults({});
  for (const NodeId node : touched_nodes(topology)) {
    const auto before = result.find(std::min(channels_of(whole, node), ports));
    if (--before->second == 0) result.erase(before);
    if (topology.living(node)) ++result[std::min(channels_of(topology, node), ports)];
  }
  return result;
}

std::vector<NodeId> living_ranks(const Topology& topology) {
  std::vector<NodeId> ranks;
  ranks.reserve(topology.living_nodes());
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    if (topology.living(node)) ranks.push_back(node);
  }
  return ranks;
}

std::vector<NodeId> touched_nodes(const Topology& topology) {
  const Topology whole = topology.with_faults({});
  const Faults& faults = topology.faults();
  std::vector<NodeId> nodes = faults.dead_nodes;
  for (const NodeId node : faults.dead_nodes) whole.each_link(node, [&](Dimension, std::int32_t, NodeId to) { nodes.push_back(to); });
  for (const Link& link : faults.dead_links) add_ends(topology, link, nodes);
  for (const SlowLink& slow : faults.slow_links) add_ends(topology, slow.link, nodes);
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

std::vector<double> nodes_within(const Topology& topology, NodeId from) {
  std::vector<double> at{1};  // by distance
  for (const Dimension d : linked_dimensions(topology)) {
    const auto n = static_cast<std::size_t>(topology.extent(d));
    const auto place = static_cast<std::size_t>(topology.coordinate(from, d));
    std::vector<double> line(n, 0);
    for (std::size_t other = 0; other < n; ++other) {
      const std::size_t apart = other > place ? other - place : place - other;
      const bool complete = topology.wiring(d) == Wiring::complete;
      ++line[complete ? std::min<std::size_t>(apart, 1) : topology.wiring(d) == Wiring::ring ? std::min(apart, n - apart) : apart];
    }
    while (line.back() == 0) line.pop_back();
    std::vector<double> sum(at.size() + line.size() - 1, 0);
    for (std::size_t i = 0; i < at.size(); ++i) {
      for (std::size_t j = 0; j < line.size(); ++j) sum[i + j] += at[i] * line[j];
    }
    at = std::move(sum);
  }
  for (std::size_t i = 1; i < at.size(); ++i) at[i] += at[i - 1];
  return at;
}

}  // namespace torus
