// SPDX-License-Identifier: MIT
#include <algorithm>
#include <set>

#include "algorithms/broadcast/flood.hpp"
#include "tests/support/catch.hpp"
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
      REQUIRE_FALSE(broadcast::flood.refuses(machine, request));
      const Plan plan = broadcast::flood.plan(machine, request);
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

TEST_CASE("flooding is refused where a node has not a port for every channel", "[conformance]") {
  Request request;
  request.sources = {0};
  CHECK(broadcast::flood.refuses(Machine(Topology::parse("4x4"), 3, Switching::packet), request));
  CHECK_FALSE(broadcast::flood.refuses(Machine(Topology::parse("4x4"), 4, Switching::packet), request));
}
