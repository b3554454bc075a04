/// synthesized-ordered: legal, complete, at the bound or a step above it.

#include <algorithm>
#include <random>
#include <tuple>

#include <torus/bounds.hpp>

#include "algorithms/broadcast/synthesis/ordered_step.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/emulate.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

/// Steps above the bound of a verified run from a node; with all ports, if 0.
std::uint64_t steps_over(const Topology& topology, NodeId source, std::int32_t ports = 0) {
  const std::string shape = topology.text();
  CAPTURE(shape, source, ports, support::seed());
  const Machine machine(topology, ports, Switching::wormhole);
  const Request request = support::broadcast_request(source, 8);
  const Run run = support::emulate(support::broadcast("synthesized-ordered"), machine, request);
  REQUIRE(support::complaint(run) == "");
  REQUIRE(run.result.messages == topology.nodes() - 1);
  const std::uint64_t bound = lower_bounds(machine, request).steps;
  REQUIRE(run.result.steps >= bound);
  return run.result.steps - bound;
}

}  // namespace

TEST_CASE("synthesized-ordered takes at most a step more than the bound on 2D tori with sides 1 to 20, from any node", "[conformance]") {
  std::mt19937_64 random(support::seed());
  int at_bound = 0, all = 0;
  for (std::int32_t a = 1; a <= 20; ++a) {
    for (std::int32_t b = 1; b <= 20; ++b) {
      const Topology topology({{a, Wiring::ring}, {b, Wiring::ring}});
      const std::uint64_t over = steps_over(topology, support::random_below(random, topology.nodes()));
      CHECK(over <= 1);
      ++all;
      if (over == 0) ++at_bound;
    }
  }
  CHECK(at_bound >= all * 97 / 100);
}

TEST_CASE("synthesized-ordered meets the bound where the patterns take up to three steps more", "[conformance]") {
  for (const char* shape : {"12x40", "25x25", "32x32", "64x64", "24x24", "8x8x8", "16x16x16"})
    CHECK(steps_over(Topology::parse(shape), 0) == 0);
}

TEST_CASE("synthesized-ordered takes at most a step more than the bound in three and four dimensions", "[conformance]") {
  std::mt19937_64 random(support::seed());
  for (int i = 0; i < 60; ++i) {
    std::vector<DimensionShape> shape(3 + support::random_below(random, 2));
    for (DimensionShape& dimension : shape)
      dimension.extent = static_cast<std::int32_t>(1 + support::random_below(random, shape.size() == 3 ? 9 : 4));
    const Topology topology(shape);
    CHECK(steps_over(topology, support::random_below(random, topology.nodes())) <= 1);
  }
}

TEST_CASE("synthesized-ordered with fewer ports takes at most a step more than the bound on tori to 16x16 and 8x8x8", "[conformance]") {
  std::mt19937_64 random(support::seed());
  support::Share share(8, 4);
  const auto check = [&](const Topology& topology) {
    if (!share.takes_turn()) return;
    for (std::int32_t ports = 1; ports < Machine(topology).ports; ++ports) {
      CAPTURE(topology.text(), ports);
      CHECK(steps_over(topology, support::random_below(random, topology.nodes()), ports) <= 1);
    }
  };
  for (std::int32_t a = 1; a <= 16; ++a) {
    for (std::int32_t b = 1; b <= 16; ++b) check(Topology({{a, Wiring::ring}, {b, Wiring::ring}}));
  }
  for (std::int32_t a = 1; a <= 8; ++a) {
    for (std::int32_t b = 1; b <= 8; ++b) {
      for (std::int32_t c = 1; c <= 8; ++c) check(Topology({{a, Wiring::ring}, {b, Wiring::ring}, {c, Wiring::ring}}));
    }
  }
  for (const auto& [shape, ports, over] : {std::tuple{"16x16", 3, 1U}, {"8x8x8", 4, 1U}, {"8x8x8", 5, 0U}, {"16x16", 2, 0U}})
    CHECK(steps_over(Topology::parse(shape), 0, ports) <= over);
}

TEST_CASE("synthesized-ordered broadcasts on every mesh and mix, from any node, mostly in at most two steps more than the bound",
          "[conformance]") {
  std::mt19937_64 random(support::seed());
  int near = 0;
  for (int i = 0; i < 120; ++i) {
    std::vector<DimensionShape> shape(1 + support::random_below(random, 3));
    for (DimensionShape& dimension : shape)
      dimension = {static_cast<std::int32_t>(1 + support::random_below(random, 12)),
                   support::random_below(random, 3) == 0 ? Wiring::ring : Wiring::line};
    const Topology topology(shape);
    const auto ports = static_cast<std::int32_t>(support::random_below(random, 3) == 0 ? 1 + support::random_below(random, 2) : 0);
    const NodeId source = support::random_below(random, topology.nodes());
    if (steps_over(topology, source, std::min(ports, Machine(topology).ports)) <= 2) ++near;
  }
  CHECK(near >= 108);
}

TEST_CASE("synthesized-ordered counts no step in which nobody sends", "[conformance]") {
  // The search finds six steps here, and in the last of them no node has anything to send.
  CHECK(steps_over(Topology::parse("11x12mx2m"), 221) == 1);
}

TEST_CASE("a matching serves what a step can, and names what it cannot", "[conformance]") {
  const Topology topology = Topology::parse("3x5");
  broadcast::OrderedStep step(topology, 4);
  // From (0,0): up and down its cell, and to either other cell.
  const std::vector<NodeId> root{0}, four{1, 4, 5, 10}, five{1, 4, 5, 10, 11};
  CHECK(step.solve(root, four) == 4);
  CHECK(step.unserved().empty());
  CHECK(step.messages().size() == 4);
  CHECK(step.solve(root, five) == 4);
  CHECK(step.unserved().size() == 1);
  // Two nodes of one cell on the same side of the root are more than one message along the cell, and routes turn but once.
  const std::vector<NodeId> same_cell{1, 2, 3};
  CHECK(step.solve(root, same_cell) == 2);
  broadcast::OrderedStep few_ports(topology, 3);
  CHECK(few_ports.solve(root, four) == 3);
  CHECK(few_ports.messages().size() == 3);
}
