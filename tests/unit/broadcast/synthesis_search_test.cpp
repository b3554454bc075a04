/// What the searches for a broadcast share: lines, which need none, and the sets of nodes that they try.
#include <algorithm>
#include <numeric>
#include <set>
#include <string>

#include "algorithms/broadcast/circuit/circuit_flow.hpp"
#include "algorithms/broadcast/circuit/schedule.hpp"
#include "algorithms/broadcast/synthesis/search.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/schedule_judge.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;
using namespace torus::broadcast;

namespace {

/// The fewest steps by trying every set of nodes that a step can tell, from every set that earlier steps can.
std::uint32_t fewest_steps(const Topology& line, std::int32_t ports, NodeId root) {
  const std::uint32_t everybody = (1U << line.nodes()) - 1;
  const auto members = [&](std::uint32_t set) {
    std::vector<NodeId> nodes;
    for (NodeId node = 0; node < line.nodes(); ++node) {
      if ((set >> node & 1U) != 0) nodes.push_back(node);
    }
    return nodes;
  };
  CircuitFlow flow(line, ports);
  std::vector<bool> reached(everybody + 1, false);
  std::vector<std::uint32_t> frontier{1U << root};
  for (std::uint32_t steps = 0; true; ++steps) {
    std::vector<std::uint32_t> next;
    for (const std::uint32_t set : frontier) {
      if (set == everybody) return steps;
      const std::uint32_t rest = everybody & ~set;
      for (std::uint32_t told = rest; told != 0; told = (told - 1) & rest) {
        if (reached[set | told]) continue;
        const std::vector<NodeId> targets = members(told);
        if (flow.solve(members(set), targets) < targets.size()) continue;
        reached[set | told] = true;
        next.push_back(set | told);
      }
    }
    frontier = std::move(next);
  }
}

/// Legal and complete, nobody told twice, no step idle.
void check(const Topology& line, std::int32_t ports, NodeId root, const std::vector<std::vector<Circuit>>& steps) {
  const auto schedule = table_schedule(line, "line", steps);
  const support::Judgement judgement = support::judge(line, ports, *schedule, {root});
  REQUIRE(judgement.violation == "");
  REQUIRE(judgement.informed.size() == line.nodes());
  REQUIRE(judgement.messages == line.nodes() - 1);
  REQUIRE(judgement.idle_steps == 0);
}

}  // namespace

TEST_CASE("a line is told in the fewest steps that any choice of circuits allows", "[unit]") {
  for (std::int32_t n = 1; n <= 10; ++n) {
    const Topology line({{n, Wiring::line}});
    for (std::int32_t ports = 1; ports <= line.max_ports(); ++ports) {
      for (NodeId root = 0; root < line.nodes(); ++root) {
        CAPTURE(n, ports, root);
        const auto steps = line_broadcast(line, ports, root);
        check(line, ports, root, steps);
        REQUIRE(steps.size() == fewest_steps(line, ports, root));
      }
    }
  }
}

TEST_CASE("a long line is told in the steps that its longer side asks for, with one port in the logarithm", "[unit]") {
  for (const std::int32_t n : {26, 27, 28, 81, 82, 100, 243, 244, 365, 1093, 1094, 1095, 2532, 4000}) {
    const Topology line({{1, Wiring::ring}, {n, Wiring::line}, {1, Wiring::line}});
    for (const NodeId root : {NodeId{0}, NodeId{1}, line.nodes() / 3, line.nodes() / 2, line.nodes() - 1}) {
      CAPTURE(n, root);
      std::uint32_t by_two = 0;
      for (NodeId reached = 1; reached < line.nodes(); reached *= 2) ++by_two;
      std::uint32_t by_sides = 0;
      for (NodeId closed = 0; closed < std::max(root, line.nodes() - 1 - root); closed = 3 * closed + 1) ++by_sides;
      for (const std::int32_t ports : {1, 2}) {
        const auto steps = line_broadcast(line, ports, root);
        check(line, ports, root, steps);
        REQUIRE(steps.size() == (ports == 1 ? by_two : by_sides));
      }
    }
  }
}

TEST_CASE("only a row without a ring is a line", "[unit]") {
  CHECK(is_line(Topology::parse("mesh:7")));
  CHECK(is_line(Topology::parse("1x7mx1")));
  CHECK(is_line(Topology::parse("mesh:1x2")));
  CHECK(!is_line(Topology::parse("7")));
  CHECK(!is_line(Topology::parse("1mx7")));
  CHECK(!is_line(Topology::parse("mesh:2x7")));
}

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
