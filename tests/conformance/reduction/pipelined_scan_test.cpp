// The scan in a pipeline: every contributor once, in the steps that it claims, and no channel carries a segment twice.
#include <random>

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

TEST_CASE("a pipelined scan of a long vector takes at most half the model time of the others with one port, and five eighths with more",
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
      CHECK(time("pipelined") <= (ports == 1 ? 0.5 : 0.625) * std::min(time("line"), time("sklansky")));
    }
  }
}
