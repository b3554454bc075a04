
#include <algorithm>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <torus/catalogue.hpp>

#include "algorithms/broadcast/swath/swath.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/emulate.hpp"
#include "tests/support/long_broadcast.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

std::vector<std::uint32_t> strip_values_on(const Machine& machine) { return broadcast::swath_values(machine, lines::Ways::forward); }

void check_strip(const Machine& machine, NodeId root, Bytes bytes, std::uint32_t h) {
  const std::string shape = machine.topology.text();
  CAPTURE(shape, root, bytes, h, support::seed());
  const Request request = support::request_with_h(root, bytes, h);
  REQUIRE(why_not(support::broadcast("strip"), machine, request) == "");
  const support::Emulation run = support::emulate(support::broadcast("strip"), machine, request);
  REQUIRE(support::complaint(run) == "");  // steps, bytes and hops are those of the plan
  REQUIRE(run.plan.steps_exact);
  REQUIRE(run.result.control_bytes == 0);
}

}  // namespace

TEST_CASE("strip is legal, complete and as predicted for every h, any source and any number of bytes", "[conformance]") {
  support::each_h_on({"1", "2", "3", "9", "5x5", "8x8", "7x9", "4x6", "3x3", "2x2", "2x5", "1x7", "4x4x4", "3x5x2", "5x1x6", "2x2x2x2",
                      "3x20", "2x3x5x3", "2x1x3x2x3"},
                     1, strip_values_on, check_strip);
}

TEST_CASE("strip holds for chosen h on larger tori, with more ports than it uses, and for the h that it chooses", "[conformance]") {
  std::mt19937_64 random(support::seed());
  for (const auto& [shape, values] : std::vector<std::pair<const char*, std::vector<std::uint32_t>>>{
           {"25x25", {1, 2, 5, 12, 25}}, {"16x16", {8, 16}}, {"8x8x8", {3, 8, 24}}, {"11x17", {4, 11, 17}}, {"3^4", {2, 3, 6}}}) {
    for (const int ports : {1, 3}) {
      const Machine machine(Topology::parse(shape), ports);
      for (const std::uint32_t h : values) check_strip(machine, support::random_below(random, machine.topology.nodes()), 12345, h);
    }
    const Machine machine(Topology::parse(shape), 1);
    for (const Bytes bytes : {Bytes{0}, Bytes{5}, Bytes{1000}, Bytes{100001}, Bytes{1} << 20U})
      check_strip(machine, support::random_below(random, machine.topology.nodes()), bytes, 0);
  }
}

TEST_CASE("strip holds on random tori", "[conformance]") { support::random_h_on_tori(5, 5, 1, strip_values_on, check_strip); }

TEST_CASE("strip's steps and bytes are the points of the reference table", "[conformance]") {
  using Row = std::tuple<const char*, std::uint32_t, std::uint64_t, double>;
  for (const auto& [shape, h, steps, bytes] : std::vector<Row>{{"25x25", 1, 10, 10},
                                                               {"25x25", 2, 12, 6},
                                                               {"25x25", 4, 14, 3.75},
                                                               {"25x25", 5, 15, 3.2},
                                                               {"25x25", 8, 18, 2.75},
                                                               {"25x25", 12, 23, 2.5},
                                                               {"25x25", 25, 34, 2.12},
                                                               {"8x8x8", 1, 9, 9},
                                                               {"8x8x8", 2, 11, 5.5},
                                                               {"8x8x8", 4, 13, 3.5},
                                                               {"8x8x8", 8, 16, 2.5}}) {
    CAPTURE(std::string(shape), h);
    const Bytes unit = 64 * 27 * 25 * 7;  // all segments get as many bytes
    const Plan plan = support::broadcast("strip").plan(Machine(Topology::parse(shape), 1), support::request_with_h(0, unit, h));
    CHECK(plan.steps == steps);
    CHECK(plan.channel_bytes / static_cast<double>(unit) == Approx(bytes).margin(0.005));
  }
}

TEST_CASE("strip takes the h of least model time", "[conformance]") {
  for (const char* shape : {"25x25", "7x9", "4x4x4", "9", "1"}) {
    const Machine machine(Topology::parse(shape), 1);
    for (const Bytes bytes : {Bytes{0}, Bytes{1000}, Bytes{65536}, Bytes{1} << 20U, Bytes{1} << 26U}) {
      CAPTURE(std::string(shape), bytes);
      const Plan best = support::broadcast("strip").plan(machine, support::request_with_h(0, bytes, 0));
      for (const std::uint32_t h : strip_values_on(machine)) {
        const Plan other = support::broadcast("strip").plan(machine, support::request_with_h(0, bytes, h));
        if (bytes >= other.segments) CHECK(best.model_time_s(machine.cost) <= other.model_time_s(machine.cost));
      }
    }
  }
}

TEST_CASE("strip refuses what it has no schedule for", "[conformance]") {
  const auto why = [](const Machine& machine, std::uint32_t h) {
    return why_not(support::broadcast("strip"), machine, support::request_with_h(0, 8, h));
  };
  CHECK(why(Machine(Topology::parse("4x1x6"), 1), 5) == "h 5: strip on 4x1x6 has no schedule for so many pieces; 4 would do");
  CHECK(why(Machine(Topology::parse("9"), 1), 4) == "h 4: on a ring strip splits the message into 1 piece, or into one a node; 1 would do");
  CHECK(why(Machine(Topology::parse("4x4m"), 1), 2) != "");
  CHECK(why(Machine(Topology::parse("4x4"), 1, Switching::packet), 2) != "");
}
