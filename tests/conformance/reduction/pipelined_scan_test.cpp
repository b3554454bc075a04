// The scan in a pipeline: every contributor once, in the steps that it claims, and no channel carries a segment twice.
#include <random>
#include <string>
#include <utility>

#include "tests/support/catch.hpp"
#include "tests/support/judged.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

const Algorithm& pipelined() { return *find_algorithm(Collective::scan, "pipelined"); }

Request scan_of(Bytes bytes, std::uint32_t segments, Reduction reduction = {Operator::sum, ElementType::u32}) {
  Request request = support::reduction_request(Collective::scan, bytes, reduction);
  if (segments > 0) request.parameters.set("segments", segments);
  return request;
}

/// The steps of a single segment with all ports.
std::uint64_t claimed_steps(const Topology& topology) {
  std::vector<std::uint64_t> extents;
  for (const DimensionShape& d : topology.shape()) {
    if (d.extent > 1) extents.push_back(static_cast<std::uint64_t>(d.extent));
  }
  if (extents.empty()) return 0;
  if (extents.size() == 2 && extents[1] > 2) return extents[0] + extents[1] - (extents[1] % 2 == 0 ? 1 : 2);
  std::uint64_t steps = extents[0] - 1;
  for (std::size_t d = 1; d < extents.size(); ++d) steps += 2 * (extents[d] - 1);
  return steps;
}

}  // namespace

TEST_CASE("a pipelined scan gives every node the contributions up to its own, on every shape, with any ports and segments",
          "[conformance]") {
  std::vector<Topology> shapes = support::telling_shapes();
  for (const char* text : {"7x5", "1x7x2", "5mx3", "2x3x5m", "3x2mx2x2", "4cx3m", "5x3c", "4x8t", "2x4x4t", "hypercube:5", "13", "2x9"})
    shapes.push_back(Topology::parse(text));
  for (const Topology& topology : shapes) {
    for (const int ports : {1, 2, 3, 0}) {
      if (ports > topology.max_ports()) continue;
      Machine machine(topology, ports, Switching::packet);
      machine.cost.combine_s = 5e-11;
      for (const std::uint32_t segments : {1U, 2U, 7U}) {
        CAPTURE(topology.text(), ports, segments);
        const auto [run, complaint] = support::judged(pipelined(), machine, scan_of(28 * 4, segments));
        CHECK(complaint == "");
        CHECK(run.result.channel_bytes_sum <= run.result.steps * (28 * 4 / segments));
        if (ports == 0 && segments == 1) CHECK(run.result.steps == claimed_steps(topology));
        if (ports == 0 && segments == 7 && topology.nodes() > 1) CHECK(run.result.steps == claimed_steps(topology) + 6);
      }
    }
  }
}

TEST_CASE("with one port very long vectors go from rank to rank, two segments in three steps", "[conformance]") {
  for (const char* shape : {"8x8", "5x5", "7x9", "4x16", "6x6c", "3x4", "5mx3", "1x4x1x5c"}) {
    Machine machine(Topology::parse(shape), 1, Switching::packet);
    machine.cost.combine_s = 5e-11;
    const std::uint32_t segments = 8 * machine.topology.nodes();
    CAPTURE(shape);
    const auto [run, complaint] = support::judged(pipelined(), machine, scan_of(Bytes{segments} * 4, segments));
    CHECK(complaint == "");
    CHECK(run.plan.notes.back() == std::pair<std::string, std::string>{"steps from two segments to two", "3"});
    CHECK(run.result.steps <= segments / 2 * 3 + 2 * machine.topology.nodes());
  }
}

TEST_CASE("a pipelined scan does without the links that none of its messages needs", "[conformance]") {
  const auto dead = [](const char* shape, std::vector<Link> links, int ports) {
    return Machine(Topology::parse(shape).with_faults({.dead_links = std::move(links)}), ports, Switching::packet);
  };
  for (const int ports : {1, 2, 0}) {
    for (const Machine& machine : {dead("6x6", {{3, 0, 1}, {9, 0, 1}, {11, 1, 1}}, ports), dead("3x4x4", {{0, 0, 1}, {4, 1, 1}}, ports)}) {
      CAPTURE(machine.topology.text(), ports);
      CHECK(support::judged(pipelined(), machine, scan_of(1 << 12, 64)).complaint == "");
    }
    CHECK(refuses(pipelined(), dead("6x6", {{3, 1, 1}}, ports), scan_of(64, 0)));   // within a row
    CHECK(refuses(pipelined(), dead("6x6", {{11, 0, 1}}, ports), scan_of(64, 0)));  // of the ends of rows
  }
}

TEST_CASE(
    "a pipelined scan of a long vector takes at most half the model time of the one by halves with one port, and five eighths with more",
    "[conformance]") {
  for (const char* shape : {"8x8", "mesh:8x8", "4x4x4", "16x16", "6x6c", "mesh:16", "15", "3x4x5", "4x4x8t"}) {
    const Topology topology = Topology::parse(shape);
    for (const int ports : {1, 2, 0}) {
      const Machine machine(topology, ports, Switching::packet);
      const auto time = [&](std::string_view name) {
        const Algorithm& algorithm = *find_algorithm(Collective::scan, name);
        const Request request = scan_of(Bytes{1} << 20U, 0);
        return refuses(algorithm, machine, request) ? 1e9 : make_plan(algorithm, machine, request).model_time_s(machine.cost);
      };
      CAPTURE(shape, ports);
      CHECK(time("pipelined") <= (ports == 1 ? 0.5 : 0.625) * time("sklansky"));
    }
  }
}
