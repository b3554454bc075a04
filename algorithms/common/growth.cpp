#include "algorithms/common/growth.hpp"

#include "algorithms/common/factor.hpp"

namespace torus {
namespace {

/// Of living nodes, by their living channels.
Senders senders_among(const Topology& topology, std::uint64_t ports) {
  Senders result;
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    if (topology.living(node)) ++result[std::min(channels_of(topology, node), ports)];
  }
  return result;
}

}  // namespace

Senders senders(const Topology& topology, std::uint64_t ports) {
  if (!topology.whole()) return senders_among(topology, ports);
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
  return result;
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
