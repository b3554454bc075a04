
#include <algorithm>
#include <random>
#include <set>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/emulate.hpp"
#include "tests/support/reference.hpp"
#include "tests/support/run.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

TEST_CASE("flooding reaches every node of any shape in as many steps as the farthest is hops away", "[conformance]") {
  for (const Topology& topology : support::telling_shapes()) {
    const Machine machine(topology, 0, Switching::packet);
    for (const NodeId root : std::set<NodeId>{0, topology.nodes() / 2, topology.nodes() - 1}) {
      CAPTURE(topology.text(), root);
      Request request;
      request.sources = {root};
      request.bytes = 33;
      request.parameters.set("segments", 1);
      REQUIRE_FALSE(refuses(support::broadcast("flood"), machine, request));
      const Plan plan = support::broadcast("flood").plan(machine, request);
      const RunResult result = support::emulate(machine, placement_of(machine, request, plan), plan.start).result;
      const std::vector<std::int32_t> distance = support::distances_from(topology, root);
      CHECK(result.verified);
      CHECK(result.violations.empty());
      CHECK(result.steps == static_cast<std::uint64_t>(*std::max_element(distance.begin(), distance.end())));
      CHECK(result.steps == plan.steps);
      CHECK(result.model_time_s == Approx(plan.model_time_s(machine.cost)));
    }
  }
}

TEST_CASE("flooding in K segments takes K-1 steps more than flooding whole, each with a segment's bytes", "[conformance]") {
  std::mt19937_64 random(support::seed());
  const auto check = [](const Topology& topology, NodeId root) {
    const Machine machine(topology, 0, Switching::packet);
    const auto farthest = static_cast<std::uint64_t>(topology.eccentricity(root));
    for (const std::uint32_t segments : {1U, 3U, 10U, 13U}) {
      CAPTURE(topology.text(), root, segments, support::seed());
      Request request = support::broadcast_request(root, 10);
      request.parameters.set("segments", segments);
      const support::Emulation run = support::emulate(support::broadcast("flood"), machine, request);
      REQUIRE(support::complaint(run) == "");
      REQUIRE(run.result.steps == (farthest == 0 ? 0 : farthest + segments - 1));
    }
  };
  for (const Topology& topology : support::telling_shapes()) check(topology, support::random_below(random, topology.nodes()));
  for (int i = 0; i < 60; ++i) {
    const Topology topology = support::random_topology(random, 600);
    const NodeId root = support::random_below(random, topology.nodes());
    if (topology.max_ports() <= 8) check(topology, root);  // in dense graphs most of a flood is copies that nobody needs
  }
}

TEST_CASE("flooding in segments takes the number of segments that the model likes best", "[conformance]") {
  for (const char* shape : {"1", "2", "9x7", "mesh:5x5x5", "30"}) {
    for (const Bytes bytes : {Bytes{0}, Bytes{1}, Bytes{1000}, Bytes{100000}}) {
      CAPTURE(std::string(shape), bytes);
      Machine machine(Topology::parse(shape), 0, Switching::packet);
      machine.cost.byte_s = 1e-8;
      Request request = support::broadcast_request(0, bytes);
      const Plan best = support::broadcast("flood").plan(machine, request);
      for (std::uint32_t segments = 1; segments <= 200; ++segments) {
        request.parameters.set("segments", segments);
        const Plan other = support::broadcast("flood").plan(machine, request);
        // Up to what rounding a segment up to whole bytes costs.
        REQUIRE(best.model_time_s(machine.cost) <= other.model_time_s(machine.cost) + 40 * machine.cost.byte_s);
      }
    }
  }
}
