/// The sets of nodes that the synthesizer tries: quasi-lattices and balanced partitions.
#include <algorithm>
#include <numeric>
#include <set>

#include "algorithms/broadcast/synthesis/search.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;
using namespace torus::broadcast;

TEST_CASE("where 2k+1 divides all extents the first quasi-lattice is a perfect code: everyone is or neighbours exactly one member",
          "[unit]") {
  std::mt19937_64 random(support::seed());
  for (const char* text : {"5x5", "10x15", "5x1x20", "7x7x7", "7x14x7", "9x9x9x9"}) {
    const Topology topology = Topology::parse(text);
    const auto q = static_cast<std::size_t>(topology.max_ports()) + 1;
    const Multipliers p = promising_multipliers(topology, topology.max_ports(), 1, random).front();
    std::vector<int> dominated(topology.nodes(), 0);
    for (const NodeId member : quasi_lattice(topology, p, topology.nodes() / q)) {
      ++dominated[member];
      for (Dimension d = 0; d < topology.dimensions(); ++d) {
        if (topology.extent(d) == 1) continue;
        for (const std::int32_t hop : {1, -1}) ++dominated[topology.neighbour(member, d, hop).value()];
      }
    }
    CAPTURE(text);
    CHECK(std::all_of(dominated.begin(), dominated.end(), [](int times) { return times == 1; }));
  }
}

TEST_CASE("quasi-lattices have as many nodes as asked for, each once, ascending", "[unit]") {
  std::mt19937_64 random(support::seed());
  CAPTURE(support::seed());
  for (const char* text : {"7", "4x9", "1x6", "3x4x5", "2x2x2x2x2"}) {
    const Topology topology = Topology::parse(text);
    for (std::size_t count = 1; count <= topology.nodes(); ++count) {
      for (const Multipliers& p : promising_multipliers(topology, 2, 8, random)) {
        const auto nodes = quasi_lattice(topology, p, count);
        REQUIRE(nodes.size() == count);
        REQUIRE(std::adjacent_find(nodes.begin(), nodes.end(), std::greater_equal<>()) == nodes.end());
        REQUIRE(nodes.back() < topology.nodes());
      }
    }
  }
}

TEST_CASE("a balanced partition takes members of the set alone, each once, and on a line one of each equal stretch", "[unit]") {
  std::mt19937_64 random(support::seed());
  CAPTURE(support::seed());
  const Topology torus = Topology::parse("9x14");
  for (int trial = 0; trial < 100; ++trial) {
    std::vector<NodeId> nodes;
    for (NodeId node = 0; node < torus.nodes(); ++node) {
      if (support::random_below(random, 2) == 0) nodes.push_back(node);
    }
    const std::size_t count = 1 + support::random_below(random, nodes.size());
    const auto chosen = balanced_partition(torus, nodes, count, {3, 5});
    REQUIRE(chosen.size() == count);
    REQUIRE(std::adjacent_find(chosen.begin(), chosen.end(), std::greater_equal<>()) == chosen.end());
    REQUIRE(std::includes(nodes.begin(), nodes.end(), chosen.begin(), chosen.end()));
  }
  const Topology ring = Topology::parse("40");
  std::vector<NodeId> nodes(40);
  std::iota(nodes.begin(), nodes.end(), NodeId{0});
  const auto chosen = balanced_partition(ring, nodes, 8, {2});
  for (std::size_t i = 0; i < 8; ++i) CHECK((chosen[i] + 38) % 40 / 5 == (chosen[0] + 38) % 40 / 5 + i);
}
