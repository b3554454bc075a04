// Reduce-scatter, all-reduce and multi-node broadcast along the rings, lines and complete dimensions of a machine.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/halves.hpp"
#include "tests/support/judged.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;
using namespace torus::support;

namespace {

std::uint64_t reach(const DimensionShape& line) {
  const auto n = static_cast<std::uint64_t>(line.extent);
  if (line.wiring == Wiring::complete) return n > 1 ? 1 : 0;
  return line.wiring == Wiring::ring ? n / 2 : n - 1;
}

}  // namespace

TEST_CASE("along all lines at once a half takes k times the longest reach, one after the other their sum", "[conformance]") {
  for (const Topology& topology : telling_shapes()) {
    CAPTURE(topology.text());
    std::uint64_t longest = 0, sum = 0, wide = 0;
    for (const DimensionShape& line : topology.shape()) {
      longest = std::max(longest, reach(line));
      sum += reach(line);
      wide += line.extent > 1 ? 1 : 0;
    }
    CHECK(halves_on("rings --variant parallel", topology).steps == wide * longest);
    CHECK(halves_on("rings --variant single", topology).steps == sum);
  }
}

TEST_CASE("rings of different sides take the steps and bytes that were worked out for them", "[conformance]") {
  struct Known {
    const char* shape;
    std::uint64_t steps, blocks;
  };
  for (const Known& known : {Known{"4x6", 6, 25}, Known{"16x16", 16, 255}, Known{"8x8x8", 12, 511}, Known{"12x40", 40, 507}}) {
    CAPTURE(std::string(known.shape));
    const Machine machine(Topology::parse(known.shape), 0, Switching::packet);
    const auto pieces = 2 * static_cast<Bytes>(machine.topology.dimensions());  // one byte each
    Request request = reduction_request(Collective::reduce_scatter, pieces, {Operator::exclusive_or, ElementType::u8});
    request.parameters.set("variant", "parallel");
    const Plan plan = make_plan(*find_algorithm(Collective::reduce_scatter, "rings"), machine, request);
    CHECK(plan.steps == known.steps);
    CHECK(plan.channel_bytes == static_cast<double>(known.blocks));
  }
}

TEST_CASE("rings halve the antipode's last block where that saves bytes, and not where it costs the rest of an element", "[conformance]") {
  const Machine machine(Topology::parse("8x8x8"), 0, Switching::packet);
  const Algorithm& rings = *find_algorithm(Collective::allreduce, "rings");
  const auto segments = [&](Bytes elements) {
    Request request = reduction_request(Collective::allreduce, 4 * elements);
    request.parameters.set("variant", "parallel");
    return make_plan(rings, machine, request).segments;
  };
  CHECK(segments(Bytes{6} * 512 * 100) == 6 * 512);
  CHECK(segments(Bytes{6} * 512 + 3) == 3 * 512);
}

TEST_CASE("rings take the variant of less model time, and say which", "[conformance]") {
  const Algorithm& rings = *find_algorithm(Collective::allreduce, "rings");
  const Machine machine(Topology::parse("4x12"), 0, Switching::packet);
  for (const Bytes bytes : {Bytes{48} * 4, Bytes{1} << 24U}) {
    std::vector<double> times;
    for (const char* variant : {"", "parallel", "single"}) {
      Request request = reduction_request(Collective::allreduce, bytes);
      request.parameters.set("variant", variant);
      times.push_back(make_plan(rings, machine, request).model_time_s(machine.cost));
    }
    CAPTURE(bytes, times);
    CHECK(times[0] == std::min(times[1], times[2]));
    CHECK(times[1] != times[2]);
    const Plan plan = make_plan(rings, machine, reduction_request(Collective::allreduce, bytes));
    CHECK(plan.notes.back() == std::pair<std::string, std::string>("variant", times[1] < times[2] ? "parallel" : "single"));
  }
}
