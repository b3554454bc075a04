// Reduce-scatters, all-reduces and multi-node broadcasts by hubs, with one port.
#include <algorithm>
#include <cstdint>
#include <string>

#include "algorithms/common/integers.hpp"
#include "tests/support/halves.hpp"
#include "tests/support/judged.hpp"

using namespace torus;
using namespace torus::support;

namespace {

/// Steps of a half along a line that has `pairs` pairs of hubs.
std::uint64_t steps_of_line(const DimensionShape& line, std::uint64_t pairs) {
  if (line.extent == 1) return 0;
  const auto n = static_cast<std::uint64_t>(line.extent), c = std::min(pairs, std::max<std::uint64_t>(1, n / 2));
  const std::uint64_t group = (n + c - 1) / c, arm = (group - 1) / 2;  // ceil((group - 2) / 2)
  const std::uint64_t haul = c == 1 ? 0 : 1 + (line.wiring == Wiring::line ? c - 1 : c / 2);
  return 2 * ceil_log(2, arm + 1) + 1 + haul;
}

Request with_pairs(Collective collective, NodeId nodes, std::uint64_t pairs, Bytes bytes) {
  Request request = reduction_request(collective, bytes, {Operator::sum, ElementType::u8});
  if (collective == Collective::multinode_broadcast) {
    for (NodeId i = 0; i < nodes; ++i) request.sources.push_back(i);
  }
  request.parameters.set("hubs", pairs);
  return request;
}

}  // namespace

TEST_CASE("hubs take the steps of their arms, swaps and haul on every ring and line", "[conformance]") {
  for (const char* shape :
       {"2", "3", "4", "5", "7", "12", "25", "40", "2m", "3m", "9m", "16m", "3x5", "5x4m", "mesh:4x6", "2x3x4", "9x1x4"}) {
    const Machine machine(Topology::parse(shape), 1);
    for (const std::uint64_t pairs : {1U, 2U, 3U, 4U, 5U, 8U}) {
      std::uint64_t half = 0;
      for (const DimensionShape& line : machine.topology.shape()) half += steps_of_line(line, pairs);
      for (const Collective collective : {Collective::reduce_scatter, Collective::multinode_broadcast, Collective::allreduce}) {
        CAPTURE(shape, pairs, std::string(name(collective)));
        const bool both = collective == Collective::allreduce;
        const Bytes bytes = both ? Bytes{3} * machine.topology.nodes() : 3;
        const auto [run, complaint] =
            judged(*find_algorithm(collective, "hubs"), machine, with_pairs(collective, machine.topology.nodes(), pairs, bytes));
        REQUIRE(complaint == "");
        CHECK(run.result.steps == (both ? 2 : 1) * half);
        CHECK(static_cast<double>(run.result.channel_bytes_sum) == run.plan.channel_bytes);
      }
    }
  }
}

TEST_CASE("by hubs or round the rings, whichever takes less time, for vectors of every length", "[conformance]") {
  for (const Topology& topology : telling_shapes()) {
    if (!is_torus_or_mesh(topology)) continue;
    CAPTURE(topology.text());
    const HalfFigures half = halves_on("hubs", topology);
    CHECK(half.combined == half.channel);  // one message a step reaches a node
    CHECK(half.channel >= topology.nodes() - 1);
  }
  const auto steps = [](Bytes bytes) {
    const Machine machine(Topology::parse("16x16"), 1);
    return find_algorithm(Collective::reduce_scatter, "hubs")->plan(machine, reduction_request(Collective::reduce_scatter, bytes)).steps;
  };
  CHECK(steps(4) <= 12);
  CHECK(steps(1U << 20U) == 30);
}
