#include "algorithms/broadcast/circuit/circuit_flow.hpp"

#include <algorithm>
#include <random>
#include <set>

#include "tests/support/catch.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;
using namespace torus::broadcast;

namespace {

/// The least cut of the flow problem by trying all sets of nodes on the senders' side: sum of the senders outside (their ports), of
/// targets inside, of the channels that lead out. By max-flow min-cut, what one step can serve.
std::size_t least_cut(const Topology& topology, std::int32_t ports, const std::vector<NodeId>& senders,
                      const std::vector<NodeId>& targets) {
  std::vector<std::uint32_t> next;
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    for (Dimension d = 0; d < topology.dimensions(); ++d) {
      for (const std::int32_t hop : {1, -1}) next.push_back(topology.neighbour(node, d, hop).value_or(node));
    }
  }
  const std::size_t slots = next.size() / topology.nodes();
  std::size_t least = targets.size();
  for (std::uint32_t inside = 0; inside < (1U << topology.nodes()); ++inside) {
    std::size_t cut = 0;
    for (const NodeId s : senders) cut += (inside >> s & 1U) == 0 ? static_cast<std::size_t>(ports) : 0;
    for (const NodeId t : targets) cut += inside >> t & 1U;
    for (NodeId node = 0; node < topology.nodes(); ++node) {
      if ((inside >> node & 1U) == 0) continue;
      for (std::size_t slot = 0; slot < slots; ++slot) cut += (inside >> next[node * slots + slot] & 1U) == 0 ? 1U : 0U;
    }
    least = std::min(least, cut);
  }
  return least;
}

}  // namespace

TEST_CASE("a step by flow serves as many targets as the least cut allows, on circuits that share nothing", "[unit]") {
  std::mt19937_64 random(support::seed());
  CAPTURE(support::seed());
  for (int trial = 0; trial < 150; ++trial) {
    const Topology topology =
        Topology::parse(std::vector<std::string>{"2x2", "3x4", "2x5", "mesh:3x3", "2x2x3", "11", "3x4m"}[support::random_below(random, 7)]);
    const auto ports = static_cast<std::int32_t>(1 + support::random_below(random, static_cast<std::uint64_t>(topology.max_ports())));
    std::vector<NodeId> senders{support::random_below(random, topology.nodes())};
    std::vector<NodeId> targets;
    for (NodeId node = 0; node < topology.nodes(); ++node) {
      if (node == senders.front()) continue;
      const std::uint32_t role = support::random_below(random, 4);
      if (role == 0) senders.push_back(node);
      if (role >= 2) targets.push_back(node);
    }
    CAPTURE(trial, topology.text(), ports);
    CircuitFlow flow(topology, ports);
    const std::size_t served = flow.solve(senders, targets);
    CHECK(served == least_cut(topology, ports, senders, targets));
    CHECK(flow.unserved().size() + served == targets.size());

    std::set<std::pair<NodeId, std::int32_t>> channels;
    std::set<NodeId> receivers;
    std::vector<std::int32_t> sends(topology.nodes(), 0);
    for (const Circuit& circuit : flow.circuits()) {
      CHECK(std::find(senders.begin(), senders.end(), circuit.from) != senders.end());
      CHECK(std::find(targets.begin(), targets.end(), circuit.to) != targets.end());
      CHECK(receivers.insert(circuit.to).second);
      CHECK(++sends[circuit.from] <= ports);
      NodeId at = circuit.from;
      for (const Leg& leg : circuit.route) {
        for (std::int32_t h = 0; h < std::abs(leg.hops); ++h) {
          const std::int32_t direction = leg.hops > 0 ? 1 : -1;
          CHECK(channels.emplace(at, topology.slot(leg.dimension, direction)).second);
          at = topology.neighbour(at, leg.dimension, direction).value();
        }
      }
      CHECK(at == circuit.to);
    }
    CHECK(receivers.size() == served);
  }
}
