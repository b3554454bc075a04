// Reductions by exchanges along the dimensions: halving, swing and tripling.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>

#include "algorithms/common/integers.hpp"
#include "tests/support/halves.hpp"
#include "tests/support/judged.hpp"

using namespace torus;
using namespace torus::support;

namespace {

std::uint64_t rounds(const Topology& topology, std::uint64_t base) {
  std::uint64_t sum = 0;
  for (const DimensionShape& dimension : topology.shape()) sum += ceil_log(base, static_cast<std::uint64_t>(dimension.extent));
  return sum;
}

template <class Rule>
bool all_sides(const Topology& topology, Rule rule) {
  const auto shape = topology.shape();
  return std::all_of(shape.begin(), shape.end(), [&](const DimensionShape& d) { return d.extent == 1 || rule(d.extent); });
}

bool even(std::int32_t n) { return n % 2 == 0; }
bool power_of_two(std::int32_t n) { return (n & (n - 1)) == 0; }

/// Every node gives each segment but its own once.
std::uint64_t given(const Topology& topology, const HalfFigures& half) { return half.segments - half.segments / topology.nodes(); }

void check(const char* algorithm, const Topology& topology, std::uint64_t base) {
  CAPTURE(algorithm, topology.text());
  const HalfFigures half = halves_on(algorithm, topology);
  CHECK(half.steps == rounds(topology, base));
  CHECK(half.combined == given(topology, half));
}

/// Times the bytes that any reduce-scatter needs.
double excess(const char* algorithm, const char* shape) {
  const Topology topology = Topology::parse(shape);
  const HalfFigures half = halves_on(algorithm, topology);
  return static_cast<double>(half.channel * static_cast<std::uint64_t>(topology.max_ports())) / static_cast<double>(given(topology, half));
}

}  // namespace

TEST_CASE("halving takes sum log2 n steps a half on sides 2^p, swing on even sides, tripling sum log3 n on any", "[conformance]") {
  for (const Topology& topology : tori_of_halves()) {
    check("tripling", topology, 3);
    if (all_sides(topology, even)) check("swing", topology, 2);
    if (all_sides(topology, power_of_two)) check("halving", topology, 2);
  }
}

TEST_CASE("exchanges move at most so many times the bytes that any reduction needs", "[conformance]") {
  CHECK(excess("halving", "8x8") < 1.53);
  CHECK(excess("swing", "8x8") < 1.10);
  CHECK(excess("swing", "4x4x4x4") == 1);
  CHECK(excess("tripling", "3x3x3") == 1);
  CHECK(excess("tripling", "8x8") < 1.26);
  CHECK(excess("tripling", "9x9") <= 1.2);
}

TEST_CASE("in negabinary order swing sends each part of a message as one run of segments, in the steps and bytes of any order",
          "[conformance]") {
  for (const char* shape : {"2", "4", "8", "16", "64", "4x4", "8x2", "2x16", "4x8x2", "2x2x2x4"}) {
    const Machine machine(Topology::parse(shape), 0, Switching::wormhole, Contention::share);
    const std::uint64_t nodes = machine.topology.nodes();
    Request request = reduction_request(Collective::allreduce, 24 * nodes, {Operator::sum, ElementType::u8});
    const Algorithm& swing = *find_algorithm(Collective::allreduce, "swing");
    const Run plain = emulate(swing, machine, request);
    request.parameters.set("order", "negabinary");
    CAPTURE(shape);
    const auto [run, complaint] = judged(swing, machine, request);
    REQUIRE(complaint == "");
    CHECK(run.result.steps == plain.result.steps);
    CHECK(run.result.channel_bytes_sum == plain.result.channel_bytes_sum);
    CHECK(run.result.messages == plain.result.messages);
    RunOptions options;
    std::uint64_t runs = 0, parts = 0;
    options.on_messages = [&](std::span<const Message* const> messages) {
      for (const Message* m : messages) {
        std::set<std::uint64_t> in_message;
        for (std::size_t i = 0; i < m->blocks().size(); ++i) {
          in_message.insert(m->blocks()[i] / nodes);
          runs += i == 0 || m->blocks()[i] != m->blocks()[i - 1] + 1 || m->blocks()[i] % nodes == 0 ? 1U : 0U;
        }
        parts += in_message.size();
      }
    };
    torus::run(swing, machine, request, options);
    CHECK(runs == parts);
  }
  Request request = reduction_request(Collective::allreduce, 64);
  request.parameters.set("order", "negabinary");
  const Machine machine(Topology::parse("6x4"), 0, Switching::wormhole, Contention::share);
  CHECK(refuses(*find_algorithm(Collective::allreduce, "swing"), machine, request));
}
