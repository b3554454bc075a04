/// Lower bounds of an all-reduce from partitions of the nodes into several classes, and from the time that a pipeline takes to fill.
///
/// Partitions. Let P be a partition of the living nodes into |P| classes. Take the messages between classes that carry partial sums of one
/// element, in an order that keeps the steps. Let X be the first class of which a node knows the whole sum, by message number k. Up to k
/// each other class has sent one, since its contribution is known in X: |P| - 1. After k each other class must still receive one. So
/// 2 (|P|-1) messages, each over a channel between classes. With L bytes on the fullest channel, summed over the steps, and C(P) the
/// channels between classes: L >= 2 (|P|-1) m / C(P), under any switching and with any ports. In seconds: over the sum of their rates
/// (bounds.cpp, LinkRates). A message may carry a partial sum of any contributors; a code that mixes different elements is not covered.
///   Which P: single nodes; on machines with holes or several speeds that of a packing of spanning trees that fails (Nash-Williams, Tutte
///   1961: trees/spanning_trees.hpp); in seconds also what hangs together by links faster than some speed.
///
/// Filling. Packet switching. Let A and B be d+1 hops apart. What B receives before step s + d depends on what A sends before step s alone,
/// since a message makes one hop a step. The result at B has m bytes of A's in it: they are in what A sends before step s, or in what B
/// receives from step s + d on. So all steps except any d in a row, s .. s + d - 1, carry m bytes over the channels of A or B: the sum of
/// their byte terms is at least m / r, r the greater rate of the two nodes. T steps are k = ceil(T/d) such rows; their k inequalities add
/// up to (k-1) times the sum over all steps: at least m/r k/(k-1). So the model time is at least the minimum over T of T steps with that.
/// The same holds for a scan: of two nodes the later in rank has m bytes of the other's in its result.
/// Source: this project.

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "algorithms/bounds/growth.hpp"
#include "algorithms/bounds/raise.hpp"
#include "algorithms/common/integers.hpp"
#include "algorithms/common/living_channels.hpp"
#include "algorithms/trees/spanning_trees.hpp"

namespace torus {
namespace {

constexpr NodeId most_nodes_of_pairs = 1024;  // whose distances are looked at one by one
constexpr NodeId most_nodes_of_classes = NodeId{1} << 20U;
constexpr NodeId most_nodes_of_packing = 256;  // of several speeds

/// 2 (|P|-1) m over the rates between the classes of a partition, of so many classes. class_of(node): equal in one class. O(channels).
template <class ClassOf>
void bound_partition_in_seconds(const Machine& machine, double bytes, std::uint64_t classes, ClassOf&& class_of, Bounds& bounds) {
  if (classes < 2) return;
  double between = 0;
  each_living_channel(machine.topology, [&](NodeId from, Dimension d, std::int32_t hop, NodeId to) {
    between += class_of(from) == class_of(to) ? 0 : 1 / machine.byte_s(from, d, hop);
  });
  bounds.channel_time_s = std::max(bounds.channel_time_s.value_or(0), 2 * static_cast<double>(classes - 1) * bytes / between);
}

/// In seconds, of the classes that a packing of trees with capacities names.
void bound_packing_in_seconds(const Machine& machine, double bytes, Bounds& bounds) {
  constexpr std::uint32_t trees = 64, capacity = 4;
  const Topology& topology = machine.topology;
  if (topology.nodes() > most_nodes_of_packing) return;
  std::vector<NodeId> classes;
  least_ratio(LinkGraph(machine, LinkCapacities(machine, capacity)), trees, &classes);
  if (classes.empty()) return;  // single nodes
  std::set<NodeId> living;
  for (const NodeId node : living_ranks(topology)) living.insert(classes[node]);
  bound_partition_in_seconds(
      machine, bytes, living.size(), [&](NodeId node) { return classes[node]; }, bounds);
}

/// By the packing of trees, on machines with holes: on whole ones single nodes are the worst partition.
void bound_packing(const Machine& machine, double bytes, Bounds& bounds) {
  constexpr std::uint32_t trees = 64;
  const Topology& topology = machine.topology;
  if (topology.whole() || topology.nodes() > most_nodes_of_pairs) return;
  const TreeCount ratio = least_ratio(LinkGraph(topology), trees);
  raise(bounds.channel_bytes, bounds.bytes_reason, ratio.load() * bytes,
        "a partition of the nodes: a link between classes is in " + std::to_string(ratio.per_link) + " of " + std::to_string(ratio.trees) +
            " spanning trees at least");
}

/// 2 (|P|-1) m over the rates between the classes that hang together by links with more than a rate, for each rate that links have, and for
/// none.
void bound_classes(const Machine& machine, double bytes, Bounds& bounds) {
  const Topology& topology = machine.topology;
  if (topology.nodes() > most_nodes_of_classes) return;
  std::set<double> rates;
  each_living_channel(topology,
                      [&](NodeId from, Dimension d, std::int32_t hop, NodeId) { rates.insert(1 / machine.byte_s(from, d, hop)); });
  constexpr std::size_t most_rates = 8;
  for (std::size_t tried = 0; !rates.empty() && tried < most_rates; ++tried) {
    const double slow = *rates.rbegin();  // first the fastest: single nodes
    rates.erase(slow);
    std::vector<NodeId> leader(topology.nodes());
    std::iota(leader.begin(), leader.end(), NodeId{0});
    const auto find = [&](NodeId node) {
      while (leader[node] != node) node = leader[node] = leader[leader[node]];
      return node;
    };
    std::uint64_t classes = topology.living_nodes();
    each_living_channel(topology, [&](NodeId from, Dimension d, std::int32_t hop, NodeId to) {
      if (1 / machine.byte_s(from, d, hop) <= slow || find(from) == find(to)) return;
      leader[find(from)] = find(to);
      --classes;
    });
    bound_partition_in_seconds(machine, bytes, classes, find, bounds);
  }
}

/// Bytes a second over as many channels of a node as it has ports, the fastest.
double rate_of(const Machine& machine, NodeId node) {
  std::vector<double> rates;
  machine.topology.each_link(node, [&](Dimension d, std::int32_t hop, NodeId) { rates.push_back(1 / machine.byte_s(node, d, hop)); });
  std::sort(rates.begin(), rates.end(), std::greater<>());
  if (rates.size() > static_cast<std::size_t>(machine.ports)) rates.resize(static_cast<std::size_t>(machine.ports));
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

/// Whether the machine looks the same from all nodes.
bool looks_alike(const Topology& topology) {
  return topology.whole() && std::all_of(topology.shape().begin(), topology.shape().end(), [](const DimensionShape& dimension) {
           return dimension.wiring != Wiring::line || dimension.extent <= 2;
         });
}

}  // namespace

void bound_filling(const Machine& machine, double bytes, Bounds& bounds) {
  const Topology& topology = machine.topology;
  if (machine.switching != Switching::packet || topology.nodes() > most_nodes_of_pairs) return;
  const LinkGraph graph(topology);
  std::vector<double> rate(topology.nodes());
  for (const NodeId node : graph.nodes()) rate[node] = rate_of(machine, node);
  const bool alike = looks_alike(topology) && std::adjacent_find(rate.begin(), rate.end(), std::not_equal_to<>()) == rate.end();
  std::vector<double> least;  // by distance: of two nodes, the greater rate
  for (const NodeId a : alike ? graph.nodes().first(1) : graph.nodes()) {
    const std::vector<std::uint32_t> distance = graph.distances(a, a);
    for (const NodeId b : graph.nodes()) {
      if (least.size() <= distance[b]) least.resize(std::size_t{distance[b]} + 1, 0);
      double& of = least[distance[b]];
      const double greater = std::max(rate[a], rate[b]);
      of = of == 0 ? greater : std::min(of, greater);
    }
  }
  raise<std::uint64_t>(bounds.steps, bounds.steps_reason, least.size() - 1, "the farthest nodes: a packet makes one hop a step");
  bounds.route_hops = std::max(bounds.route_hops, bounds.steps);
  double weakest = 0;
  for (std::size_t d = least.size() - 1; d >= 2; --d) {  // a pair that is nearer says more only if it is weaker
    if (weakest > 0 && least[d] >= weakest) continue;
    weakest = least[d];
    bounds.filling.push_back({d - 1, bytes / weakest});
  }
}

void bound_allreduce(const Machine& machine, const Request& request, Bounds& bounds) {
  const auto bytes = static_cast<double>(request.bytes);
  bound_packing(machine, bytes, bounds);
  if (!machine.cost.one_speed()) {
    bound_classes(machine, bytes, bounds);
    bound_packing_in_seconds(machine, bytes, bounds);
  }
  bound_filling(machine, bytes, bounds);
}

double filling_time_s(const Bounds& bounds, const CostModel& cost) {
  constexpr std::uint64_t most_steps = 4096;  // beyond which filling costs next to nothing
  const double bytes_s = bounds.channel_time_s.value_or(bounds.channel_bytes * cost.byte_s);
  double limit_s = bytes_s;
  for (const Filling& f : bounds.filling) limit_s = std::max(limit_s, f.bytes_s);
  const auto time_s = [&](std::uint64_t steps, double byte_terms_s) {
    return cost.timed_steps(static_cast<double>(steps), byte_terms_s, static_cast<double>(bounds.route_hops), bounds.combined_bytes);
  };
  const std::uint64_t first = std::max(bounds.steps, bounds.filling.front().hops + 1), last = first + most_steps;
  double least = time_s(last, limit_s);
  for (std::uint64_t steps = first; steps < last && time_s(steps, limit_s) < least; ++steps) {
    double most_s = bytes_s;
    for (const Filling& f : bounds.filling) {
      const std::uint64_t rows = ceil_div(steps, f.hops);
      most_s = std::max(most_s, f.bytes_s * static_cast<double>(rows) / static_cast<double>(rows - 1));
    }
    least = std::min(least, time_s(steps, most_s));
  }
  return least;
}

}  // namespace torus
