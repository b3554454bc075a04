// SPDX-License-Identifier: MIT
// Flooding, whole and in segments: legal, complete and in the promised steps on every shape.
#include <algorithm>
#include <random>
#include <string>

#include "algorithms/broadcast/flood.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/emulate.hpp"
#include "tests/support/reference.hpp"
#include "tests/support/shapes.hpp"

namespace torus {
namespace {

std::uint64_t farthest(const Topology& topology, NodeId from) {
  const std::vector<std::int32_t> distances = support::distances_from(topology, from);
  return static_cast<std::uint64_t>(*std::max_element(distances.begin(), distances.end()));
}

void check(const Topology& topology, NodeId source) {
  CAPTURE(topology.text(), source, support::seed());
  const Machine machine(topology, 0, Switching::packet);
  const std::uint64_t e = farthest(topology, source);
  Request request = support::broadcast_request(source, 10);
  const support::Emulation whole = support::emulate(broadcast::flood, machine, request);
  REQUIRE(support::complaint(whole) == "");
  REQUIRE(whole.result.steps == e);
  for (const std::uint32_t segments : {1U, 3U, 10U, 13U}) {
    CAPTURE(segments);
    request.segments = segments;
    const support::Emulation pipelined = support::emulate(broadcast::flood_pipelined, machine, request);
    REQUIRE(support::complaint(pipelined) == "");
    REQUIRE(pipelined.result.steps == (e == 0 ? 0 : e + segments - 1));
  }
}

}  // namespace

TEST_CASE("flooding reaches everybody in as many steps as the farthest node is away, in K segments in K-1 more", "[conformance]") {
  std::mt19937_64 random(support::seed());
  for (const Topology& topology : support::telling_shapes()) {
    for (const NodeId source : {NodeId{0}, support::random_below(random, topology.nodes()), topology.nodes() - 1}) check(topology, source);
  }
  for (int i = 0; i < 60; ++i) {
    const Topology topology = support::random_topology(random, 600);
    const NodeId source = support::random_below(random, topology.nodes());
    if (topology.max_ports() <= 8) check(topology, source);  // in dense graphs most of a flood is copies that nobody needs
  }
}

TEST_CASE("flooding in segments takes the number of segments that the model likes best", "[unit]") {
  for (const char* shape : {"1", "2", "9x7", "mesh:5x5x5", "30"}) {
    for (const Bytes bytes : {Bytes{0}, Bytes{1}, Bytes{1000}, Bytes{100000}}) {
      CAPTURE(std::string(shape), bytes);
      Machine machine(Topology::parse(shape), 0, Switching::packet);
      machine.cost.byte_s = 1e-8;
      Request request = support::broadcast_request(0, bytes);
      const Plan best = broadcast::flood_pipelined.plan(machine, request);
      for (std::uint32_t segments = 1; segments <= 200; ++segments) {
        request.segments = segments;
        const Plan other = broadcast::flood_pipelined.plan(machine, request);
        // Up to what rounding a segment up to whole bytes costs.
        REQUIRE(best.model_time_s(machine.cost) <= other.model_time_s(machine.cost) + 40 * machine.cost.byte_s);
      }
    }
  }
}

}  // namespace torus
