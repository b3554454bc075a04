#include "algorithms/bounds/growth.hpp"

#include <algorithm>

#include <torus/bounds.hpp>

#include "algorithms/common/integers.hpp"
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

namespace {

/// See ShapeFacts::bisection_links. The cut goes through an odd dimension's middle layer and on in it, until an even one ends it. Of two
/// odd dimensions the one with the smaller cut/(n-1) comes first (exchange the two and compare); an odd one comes before the even one e if
/// its cut/(n-1) is less than cut_e/n_e.
std::uint64_t bisection(std::vector<Factor> dimensions, std::uint64_t nodes) {
  std::stable_sort(dimensions.begin(), dimensions.end(), [](const Factor& a, const Factor& b) {
    const auto span = [](const Factor& f) { return f.n % 2 == 0 ? f.n : f.n - 1; };
    return a.middle_cut() * span(b) < b.middle_cut() * span(a);
  });
  std::uint64_t least = 0;
  for (std::size_t end = 0; end <= dimensions.size(); ++end) {
    if (end < dimensions.size() && dimensions[end].n % 2 != 0) continue;
    std::uint64_t rest = nodes;
    std::uint64_t cut = 0;
    const auto through = [&](const Factor& f) {
      rest /= f.n;
      cut += f.middle_cut() * rest;
    };
    for (std::size_t i = 0; i < end; ++i) {
      if (dimensions[i].n % 2 != 0) through(dimensions[i]);
    }
    if (end < dimensions.size()) {
      through(dimensions[end]);
    } else if (std::any_of(dimensions.begin(), dimensions.end(), [](const Factor& f) { return f.n % 2 == 0; })) {
      continue;  // odd layers alone are no cut where an even dimension is left
    }
    if (least == 0 || cut < least) least = cut;
  }
  return least;
}

/// Cuts into halves: across the middle of a short dimension and over its ends, where the extent is even; and across that of a long one,
/// which every hop over the end of a short dimension crosses too.
void twist_facts(const Topology& topology, ShapeFacts& facts) {
  const std::uint64_t n = topology.nodes(), k = static_cast<std::uint64_t>(topology.circle(0)) / 2;
  std::uint64_t shorts = 0, status = 0;
  for (const DimensionShape& d : topology.shape()) shorts += static_cast<std::uint64_t>(d.extent) == k ? 1 : 0;
  for (NodeId node = 0; node < n; ++node) status += static_cast<std::uint64_t>(topology.distance(0, node));
  facts.least_status = facts.greatest_status = status;
  facts.average_status = static_cast<double>(status);
  facts.average_distance = facts.average_status / static_cast<double>(n - 1);
  facts.bound3 = status;
  facts.bisection_links = n / k * (1 + shorts);
  if (k % 2 == 0) facts.bisection_links = std::min(facts.bisection_links, 2 * (n / k));
  facts.bound4 = ceil_div(n / 2 * (n / 2), facts.bisection_links);
}

}  // namespace

/// By product formulas; those of twisted tori are counted.
ShapeFacts shape_facts(const Topology& topology) {
  ShapeFacts facts;
  const std::uint64_t n = topology.nodes();
  const std::vector<Factor> dimensions = factors(topology);
  std::uint64_t status_times_3 = 0;
  for (const Factor& f : dimensions) {
    facts.least_status += n / f.n * f.least_status();
    facts.greatest_status += n / f.n * f.greatest_status();
    status_times_3 += n / f.n * f.average_status_times_3();
    facts.bound4 = std::max(facts.bound4, ceil_div(n / f.n * f.ring_status(), f.middle_cut()));
    facts.least_channels_of_a_node += static_cast<std::int32_t>(f.degrees().begin()->first);
    facts.most_channels_of_a_node += static_cast<std::int32_t>(f.degrees().rbegin()->first);
  }
  facts.diameter = topology.diameter();
  facts.channels = topology.channels();
  facts.average_status = static_cast<double>(status_times_3) / 3;
  if (n > 1) facts.average_distance = facts.average_status / static_cast<double>(n - 1);
  facts.bound3 = ceil_div<std::uint64_t>(status_times_3, 3);
  facts.bisection_links = n > 1 ? bisection(dimensions, n) : 0;
  if (topology.twisted()) twist_facts(topology, facts);
  return facts;
}

}  // namespace torus
