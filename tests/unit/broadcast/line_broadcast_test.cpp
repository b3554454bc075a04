#include <string>

#include "algorithms/broadcast/circuit/circuit_flow.hpp"
#include "algorithms/broadcast/circuit/schedule.hpp"
#include "algorithms/broadcast/synthesis/search.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/schedule_judge.hpp"

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
  const CircuitSchedule schedule = table_schedule(line, "line", steps);
  const support::Judgement judgement = support::judge(line, ports, schedule, {root});
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
