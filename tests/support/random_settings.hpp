/// Random machines and requests for laws over the catalogue.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <torus/catalogue.hpp>
#include <torus/error.hpp>
#include <torus/machine.hpp>

#include "tests/support/shapes.hpp"

namespace torus::support {

/// One of `one_in` has a speed for each dimension.
inline Machine random_machine(std::mt19937_64& random, Topology topology, std::uint64_t one_in = 4) {
  const int ports = random_below(random, 2) == 0
                        ? all_ports
                        : 1 + static_cast<int>(random_below(random, static_cast<std::uint64_t>(topology.max_ports())));
  const auto switching = static_cast<Switching>(random_below(random, 3));
  const auto contention = random_below(random, 4) == 0 ? Contention::share : Contention::forbid;
  CostModel cost;
  if (random_below(random, one_in) == 0) {
    for (Dimension d = 0; d < topology.dimensions(); ++d) cost.dimension_byte_s.push_back(1e-10 * (1 + random_below(random, 4)));
  }
  return Machine(std::move(topology), ports, switching, contention, {}, std::move(cost));
}

/// A whole shape, or one with holes or slow links, that hangs together.
inline Topology random_shape(std::mt19937_64& random, std::uint32_t most_nodes) {
  Topology whole = random_topology(random, most_nodes);
  if (random_below(random, 3) > 0) {  // most algorithms are for tori
    std::vector<DimensionShape> shape(1 + random_below(random, 3));
    const auto side = static_cast<std::int32_t>(1 + random_below(random, static_cast<std::uint64_t>(std::cbrt(most_nodes))));
    for (DimensionShape& d : shape) d = {random_below(random, 2) == 0 ? side : 2 * side, Wiring::ring};
    whole = Topology(std::move(shape));
  }
  if (random_below(random, 6) > 0) return whole;
  try {
    return whole.with_faults(random_faults(random, whole, 2, 1, 2));
  } catch (const InputError&) {  // it falls apart
    return whole;
  }
}

inline Request random_request(std::mt19937_64& random, const Topology& topology, Bytes bytes) {
  Request request;
  request.collective = collectives()[random_below(random, collectives().size())].collective;
  request.bytes = request.collective == Collective::barrier ? 0 : bytes;
  if (facts_of(request.collective).combines) request.bytes -= request.bytes % size_of(request.reduction.type);
  if (facts_of(request.collective).rooted()) request.sources = {living_from(topology, random_below(random, topology.nodes()))};
  if (request.collective == Collective::multinode_broadcast) {
    const std::uint32_t one_in = random_below(random, 2) == 0 ? 1 : 1 + random_below(random, topology.nodes());
    for (NodeId node = 0; node < topology.nodes(); ++node) {
      if (topology.living(node) && random_below(random, one_in) == 0) request.sources.push_back(node);
    }
    // As the command does where the sources are named; where they are not, all are assumed.
    if (random_below(random, 2) == 0) request.expected_sources = static_cast<double>(request.sources.size());
  }
  return request;
}

/// Some length of at most 2^62 bytes, each number of bits as likely as any.
inline Bytes random_bytes(std::mt19937_64& random, std::uint32_t most_bits) {
  const std::uint32_t bits = random_below(random, most_bits + 1);
  return (Bytes{1} << bits) - (random_below(random, 2) == 0 ? 0 : random() % (Bytes{1} << bits));
}

/// The nodes in any order: those of ranks 0, 1, ..
inline std::vector<NodeId> random_map(std::mt19937_64& random, const Topology& topology) {
  std::vector<NodeId> nodes(topology.nodes());
  std::iota(nodes.begin(), nodes.end(), NodeId{0});
  std::shuffle(nodes.begin(), nodes.end(), random);
  return nodes;
}

/// One of the algorithms that apply; null: none does.
inline const Algorithm* some_algorithm(std::mt19937_64& random, const Machine& machine, const Request& request) {
  std::vector<const Algorithm*> algorithms;
  for (const Algorithm* each : catalogue()) {
    if (each->collective == request.collective && !refuses(*each, machine, request)) algorithms.push_back(each);
  }
  return algorithms.empty() ? nullptr : algorithms[random() % algorithms.size()];
}

/// Takes the plans of all algorithms that apply, and what was searched for them: f(algorithm, plan, cache). The search of some takes
/// seconds on shapes that are no product of a few numbers.
template <class F>
void each_plan(const Machine& machine, const Request& request, F&& f) {
  PlanCache cache;
  for (const Algorithm* algorithm : catalogue()) {
    if (algorithm->collective != request.collective || refuses(*algorithm, machine, request)) continue;
    std::optional<Plan> plan;
    try {
      plan = algorithm->plan(machine, request, cache);
    } catch (const InputError&) {  // a search that finds nothing
      continue;
    } catch (const RunError&) {
      continue;
    }
    f(*algorithm, *plan, cache);
  }
}

inline std::string text_of(const Machine& machine, const Request& request) {
  std::string text = std::string(name(request.collective)) + " of " + std::to_string(request.bytes) + " bytes on " +
                     machine.topology.text() + ", " + std::to_string(machine.ports) + " ports, " + std::string(name(machine.switching)) +
                     ", " + std::string(name(machine.contention)) + ", " + std::to_string(request.sources.size()) + " sources from " +
                     std::to_string(request.sources.empty() ? 0 : request.sources.front());
  if (!machine.topology.whole() || machine.topology.has_slow_links()) text += ", with faults";
  if (!machine.cost.one_speed()) text += ", speeds by dimension";
  return text + (request.expected_sources ? ", expected" : "");
}

}  // namespace torus::support
