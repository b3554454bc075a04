
#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <utility>

#include "algorithms/trees/arc_trees.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/emulate.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

constexpr std::array shapes{"5x5", "8x8", "7x9", "4x6", "3x3", "2x5", "2x2", "4x4x4", "3x5x2", "5x1x6", "2x2x2x2", "9", "2", "1x1"};
constexpr std::array switchings{Switching::packet, Switching::wormhole, Switching::circuit};
const Algorithm& algorithm = support::broadcast("edst-broadcast");

/// A judged run: complete, legal, as many steps and bytes on the fullest channels as predicted. Returns the plan.
Plan checked(const Machine& machine, const Request& request) {
  CAPTURE(machine.topology.text(), std::string(name(machine.switching)), request.sources.front(), request.bytes,
          request.parameters.whole("segments"), support::seed());
  REQUIRE(why_not(algorithm, machine, request) == "");
  const support::Emulation run = support::emulate(algorithm, machine, request);
  REQUIRE(support::complaint(run) == "");
  REQUIRE(run.plan.steps_exact);
  REQUIRE(run.result.steps == run.plan.steps);
  REQUIRE(static_cast<double>(run.result.channel_bytes_sum) == run.plan.channel_bytes);
  return run.plan;
}

}  // namespace

TEST_CASE("K segments down each of the arc-disjoint trees take the trees' height and K-1 steps", "[conformance]") {
  std::mt19937_64 random(support::seed());
  for (const char* shape : shapes) {
    const Topology topology = Topology::parse(shape);
    const ArcTrees table = closed_form_trees(Machine(topology));
    const std::uint64_t height = table.height(), trees = table.trees();
    for (const Switching switching : switchings) {
      const Machine machine(topology, 0, switching);
      for (const std::uint32_t each : {1U, 2U, 5U}) {
        // No byte, fewer than segments, as many for each, and not the same for each: the longer ones may end amid the trees.
        for (const Bytes bytes :
             {Bytes{0}, Bytes{1}, Bytes{7}, Bytes{each * trees * 3}, Bytes{each * trees * 3 + trees + 1}, Bytes{1001}}) {
          Request request = support::broadcast_request(support::random_below(random, topology.nodes()), bytes);
          request.parameters.set("segments", each);
          const Plan plan = checked(machine, request);
          REQUIRE(plan.segments == each * std::max<std::uint64_t>(trees, 1));
          REQUIRE(plan.steps == (height == 0 ? 0 : height + each - 1));
          // Where the segments are all as long, every step costs one of them.
          if (trees > 0 && bytes % (each * trees) == 0) {
            REQUIRE(plan.channel_bytes == static_cast<double>(bytes / (each * trees) * plan.steps));
          }
        }
      }
    }
  }
}

TEST_CASE("the trees of the broadcast are as high as is known", "[conformance]") {
  const std::pair<const char*, std::uint32_t> heights[]{{"5x5", 6},       {"8x8", 10},        {"16x16", 18}, {"25x25", 26},
                                                        {"64x64", 66},    {"12x40", 39},      {"4x4x4", 10}, {"8x8x8", 18},
                                                        {"16x16x16", 34}, {"2x2x2x2x2x2", 8}, {"9", 8}};
  for (const auto& [shape, height] : heights) {
    CAPTURE(std::string(shape));
    CHECK(closed_form_trees(Machine(Topology::parse(shape))).height() == height);
  }
}

TEST_CASE("down the trees in the number of segments that the model likes best, a byte each if there are so many", "[conformance]") {
  for (const char* shape : {"1x1", "2", "9x7", "4x4x4", "30"}) {
    for (const Bytes bytes : {Bytes{0}, Bytes{1}, Bytes{7}, Bytes{1000}, Bytes{100000}}) {
      CAPTURE(std::string(shape), bytes);
      Machine machine(Topology::parse(shape), 0, Switching::packet);
      machine.cost.byte_s = 1e-8;
      Request request = support::broadcast_request(0, bytes);
      const Plan best = algorithm.plan(machine, request);
      const std::uint32_t trees = closed_form_shares(machine.topology);
      CHECK((best.segments == trees || best.segments <= bytes));
      for (std::uint32_t each = 1; each <= 200; ++each) {
        request.parameters.set("segments", each);
        const Plan other = algorithm.plan(machine, request);
        // Up to what rounding a segment up to whole bytes costs, in every step.
        REQUIRE(best.model_time_s(machine.cost) <=
                other.model_time_s(machine.cost) + static_cast<double>(best.steps) * machine.cost.byte_s);
      }
    }
  }
}

TEST_CASE("down the trees a long message comes near the bound of its bytes", "[conformance]") {
  const Machine machine(Topology::parse("25x25"), 0, Switching::packet);
  const Request request = support::broadcast_request(0, Bytes{1} << 24);
  const Plan plan = algorithm.plan(machine, request);
  CHECK(plan.segments / 4 == 102);
  CHECK(plan.steps == 26 + 102 - 1);
  CHECK(plan.model_time_s(machine.cost) < 0.00065);
}
