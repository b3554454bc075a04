// The scan by halves: every contributor once, on every shape and around holes, as predicted; long vectors in segments.
#include <random>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/judged.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

const Algorithm& sklansky() { return *find_algorithm(Collective::scan, "sklansky"); }

/// Empty if all is well. segments: 0 leaves the choice to the algorithm.
std::string complaint_of_scan(const Topology& topology, int ports, Bytes bytes, std::uint32_t segments) {
  Request request = support::reduction_request(Collective::scan, bytes, {Operator::sum, ElementType::f32});
  request.parameters.set("segments", std::uint64_t{segments});
  const support::Judged judged = support::judged(sklansky(), Machine(topology, ports, Switching::packet), request);
  return !judged.complaint.empty() ? judged.complaint : judged.run.check.good() && judged.run.plan.predicts() ? "" : "a surprise";
}

}  // namespace

TEST_CASE("the scan by halves gives every node the contributions up to its own, on every shape, with any ports", "[conformance]") {
  for (const Topology& topology : support::telling_shapes()) {
    for (const int ports : {1, 2, static_cast<int>(topology.max_ports())}) {
      if (ports > static_cast<int>(topology.max_ports())) continue;
      for (const std::uint32_t segments : {0U, 1U, 5U}) {
        CAPTURE(topology.text(), ports, segments);
        CHECK(complaint_of_scan(topology, ports, 400, segments) == "");
      }
    }
  }
  CHECK(complaint_of_scan(Topology("4x8t"), 4, 400, 3) == "");
}

TEST_CASE("the scan by halves goes around every dead link and every dead node", "[conformance]") {
  for (const char* shape : {"4x4", "3x3x3", "mesh:3x4", "5", "2x3", "2x4t"}) {
    const Topology whole(shape);
    for (NodeId node = 0; node < whole.nodes(); ++node) {
      CAPTURE(shape, node);
      if (whole.text() != "mesh:3x4" || node != 4)
        CHECK(complaint_of_scan(whole.with_faults({.dead_nodes = {node}}), whole.max_ports(), 24, node % 4) == "");
      whole.each_link(node, [&](Dimension d, std::int32_t hop, NodeId) {
        if (hop > 0) CHECK(complaint_of_scan(whole.with_faults({.dead_links = {{node, d, hop}}}), whole.max_ports(), 24, node % 4) == "");
      });
    }
  }
}

TEST_CASE("the scan by halves goes around random holes, with any ports and segments", "[conformance]") {
  std::mt19937_64 random(support::seed());
  int machines = 0;
  for (int i = 0; i < 150; ++i) {
    const Topology whole = support::random_topology(random, 80);
    if (whole.nodes() < 2) continue;
    try {
      const Topology topology = whole.with_faults(support::random_faults(random, whole, 4, 3, 1));
      CAPTURE(support::seed(), i, topology.text());
      const int ports = 1 + static_cast<int>(support::random_below(random, static_cast<std::uint64_t>(topology.max_ports())));
      REQUIRE(complaint_of_scan(topology, ports, 4 * support::random_below(random, 200), support::random_below(random, 9)) == "");
      ++machines;
    } catch (const InputError&) {  // cut apart
    }
  }
  CHECK(machines > 50);
}

TEST_CASE("a long vector crosses each channel as often as the segments follow one another", "[conformance]") {
  const Request request = support::reduction_request(Collective::scan, Bytes{1} << 28U);
  for (const char* shape : {"8x8", "4x4x4", "mesh:6x6"}) {
    for (const Faults& faults : {Faults{}, Faults{.dead_links = {{1, 0, 1}}}, Faults{.dead_nodes = {9}}}) {
      const Machine machine(Topology(shape).with_faults(faults), all_ports, Switching::packet);
      const Plan plan = make_plan(sklansky(), machine, request);
      CAPTURE(shape, plan.notes);
      CHECK(plan.channel_bytes <= 1.1 * 6 * static_cast<double>(request.bytes));
      CHECK(plan.channel_bytes >= lower_bounds(machine, request).channel_bytes);
    }
  }
}

TEST_CASE("the scan by halves has one trace and the same result on every executor", "[conformance]") {
  const Topology topology = Topology("4x5").with_faults({.dead_nodes = {6}, .dead_links = {{0, 0, 1}}});
  support::check_same_on_every_executor(sklansky(), Machine(topology), support::reduction_request(Collective::scan, 4096));
}
