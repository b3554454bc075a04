#include "algorithms/broadcast/swath/swath.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <torus/catalogue.hpp>

#include "algorithms/common/integers.hpp"
#include "algorithms/common/shapes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/emulate.hpp"
#include "tests/support/long_broadcast.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

const auto request_of = support::request_with_h;

std::vector<std::uint32_t> values_on(const Machine& machine) { return broadcast::swath_values(machine, lines::Ways::both); }

/// The extents above 1.
std::vector<std::int32_t> extents_of(const Topology& topology) {
  std::vector<std::int32_t> extents;
  for (const Dimension d : linked_dimensions(topology)) extents.push_back(topology.extent(d));
  return extents;
}

/// The steps as the formula has them, written a second time: by counting the rows of a class. For h up to the least extent, and on cubes.
std::uint64_t steps_of(std::vector<std::int32_t> extents, std::int32_t h) {
  const auto log3 = [](std::int32_t x) { return ceil_log(3, static_cast<std::uint64_t>(x)); };
  if (!extents.empty() && h >= *std::max_element(extents.begin(), extents.end())) {  // a dimension is scattered whole
    const std::int32_t n = extents.back();
    extents.pop_back();
    return log3(n) + static_cast<std::uint64_t>(n / 2) + steps_of(extents, h / n);
  }
  std::uint64_t columns = 0, rows = 0, gather = 0;
  for (const std::int32_t n : extents) {
    const std::int32_t windows = n / h;
    std::vector<std::int32_t> places(static_cast<std::size_t>(h), 1);  // of each class; the source's row counts everywhere
    places[0] = 0;
    for (std::int32_t w = 0; w < windows; ++w) {
      const std::int32_t length = (w + 1) * n / windows - w * n / windows;
      for (std::int32_t x = 0; x < length; ++x) ++places[static_cast<std::size_t>(x * h / length)];
    }
    for (const std::int32_t size : places) columns = std::max<std::uint64_t>(columns, log3(size));
    rows = std::max<std::uint64_t>(rows, log3(n));
    gather = std::max<std::uint64_t>(gather, static_cast<std::uint64_t>((n + windows - 1) / windows / 2));
  }
  return extents.empty() ? 0 : log3(h) + columns + (extents.size() - 1) * rows + gather;
}

void check(const Machine& machine, NodeId root, Bytes bytes, std::uint32_t h) {
  const std::string shape = machine.topology.text();
  CAPTURE(shape, root, bytes, h, support::seed());
  const Request request = request_of(root, bytes, h);
  REQUIRE(why_not(support::broadcast("swath"), machine, request) == "");
  const support::Emulation run = support::emulate(support::broadcast("swath"), machine, request);
  REQUIRE(support::complaint(run) == "");  // steps, bytes and hops are those of the plan
  REQUIRE(run.plan.steps_exact);
  REQUIRE(run.result.control_bytes == 0);
  const std::vector<std::int32_t> extents = extents_of(machine.topology);
  if (h == 0 || extents.empty()) return;
  const auto [least, most] = std::minmax_element(extents.begin(), extents.end());
  const auto pieces = static_cast<std::int32_t>(h);
  if (is_torus(machine.topology) && machine.ports == static_cast<int>(2 * extents.size()) && (pieces <= *least || *least == *most))
    REQUIRE(run.result.steps == steps_of(extents, pieces));
}

/// (R, c): steps, and the bytes on the fullest channel in units of the message's 2k-th.
std::pair<std::uint64_t, double> point(const char* shape, std::uint32_t h) {
  const Machine machine(Topology::parse(shape));
  const Bytes unit = 2 * 64 * 27 * 25 * 7;  // all segments get as many bytes
  const Plan plan = support::broadcast("swath").plan(machine, request_of(0, unit * static_cast<Bytes>(machine.ports), h));
  return {plan.steps, plan.channel_bytes / static_cast<double>(unit)};
}

}  // namespace

TEST_CASE("swath is legal, complete and as predicted for every h, any source and any number of bytes", "[conformance]") {
  support::each_h_on(
      {"1", "2", "3", "9", "5x5", "8x8", "7x9", "4x6", "3x3", "2x2", "2x5", "1x7", "4x4x4", "3x5x2", "5x1x6", "2x2x2x2", "3x20", "2x3x5x3"},
      0, values_on, check);
}

TEST_CASE("swath holds for chosen h on larger tori, and for the h that it chooses", "[conformance]") {
  std::mt19937_64 random(support::seed());
  for (const auto& [shape, values] : std::vector<std::pair<const char*, std::vector<std::uint32_t>>>{
           {"25x25", {1, 2, 3, 5, 8, 12, 13, 24, 25}}, {"16x16", {8, 16}}, {"8x8x8", {3, 8}}, {"11x17", {4, 11}}, {"3^4", {2, 3}}}) {
    const Machine machine(Topology::parse(shape));
    for (const std::uint32_t h : values) check(machine, support::random_below(random, machine.topology.nodes()), 12345, h);
    for (const Bytes bytes : {Bytes{0}, Bytes{5}, Bytes{1000}, Bytes{100001}, Bytes{1} << 20U})
      check(machine, support::random_below(random, machine.topology.nodes()), bytes, 0);
  }
}

TEST_CASE("swath's steps and bytes are the points of the reference table", "[conformance]") {
  using Row = std::tuple<const char*, std::uint32_t, std::uint64_t, double>;
  for (const auto& [shape, h, steps, bytes] :
       std::vector<Row>{{"8x8", 1, 4, 8.0},         {"8x8", 2, 6, 5.5},         {"8x8", 4, 7, 3.25},      {"8x8", 8, 8, 2.375},
                        {"16x16", 1, 6, 12},        {"16x16", 2, 7, 6.5},       {"16x16", 3, 8, 5},       {"16x16", 4, 9, 4.25},
                        {"16x16", 8, 10, 2.875},    {"16x16", 16, 14, 2.312},   {"25x25", 1, 6, 12},      {"25x25", 3, 8, 5},
                        {"25x25", 5, 9, 3.6},       {"25x25", 8, 11, 3.25},     {"25x25", 12, 13, 2.667}, {"25x25", 25, 18, 2.16},
                        {"64x64", 1, 8, 16},        {"64x64", 3, 10, 6.33},     {"64x64", 4, 11, 5.25},   {"64x64", 8, 12, 3.375},
                        {"64x64", 9, 13, 3.22},     {"64x64", 16, 17, 2.69},    {"64x64", 32, 25, 2.28},  {"64x64", 64, 40, 2.11},
                        {"8x8x8", 1, 6, 12},        {"8x8x8", 2, 8, 7.5},       {"8x8x8", 4, 9, 4.25},    {"8x8x8", 8, 10, 2.875},
                        {"16x16x16", 1, 9, 18},     {"16x16x16", 2, 10, 9.5},   {"16x16x16", 3, 11, 7},   {"16x16x16", 4, 12, 5.75},
                        {"16x16x16", 8, 13, 3.625}, {"16x16x16", 16, 17, 2.69}, {"7x9", 3, 7, 4.333}}) {
    CAPTURE(std::string(shape), h);
    const auto [r, c] = point(shape, h);
    CHECK(r == steps);
    CHECK(c == Approx(bytes).margin(0.005));
  }
}

TEST_CASE("swath takes the h of least model time", "[conformance]") {
  for (const char* shape : {"25x25", "7x9", "4x4x4", "9", "1"}) {
    const Machine machine(Topology::parse(shape));
    for (const Bytes bytes : {Bytes{0}, Bytes{1000}, Bytes{65536}, Bytes{1} << 20U, Bytes{1} << 26U}) {
      CAPTURE(std::string(shape), bytes);
      const Plan best = support::broadcast("swath").plan(machine, request_of(0, bytes, 0));
      for (const std::uint32_t h : values_on(machine)) {
        const Plan other = support::broadcast("swath").plan(machine, request_of(0, bytes, h));
        CHECK(best.model_time_s(machine.cost) <= other.model_time_s(machine.cost));
      }
    }
  }
}

TEST_CASE("swath holds on meshes, and where rings and lines mix", "[conformance]") {
  std::mt19937_64 random(support::seed());
  for (const char* shape : {"mesh:5x5", "mesh:8", "1m", "2m", "4x5m", "2mx3", "mesh:3x4x2", "hypercube:4", "mesh:2x7", "7mx9", "mesh:4x4x4",
                            "3x20m", "5mx1x6", "mesh:2x3x2x3x2"}) {
    const Topology topology = Topology::parse(shape);
    for (const std::uint32_t h : values_on(Machine(topology))) {
      for (const Bytes bytes : {Bytes{0}, Bytes{7}, Bytes{support::random_below(random, 3000)}})
        check(Machine(topology), support::random_below(random, topology.nodes()), bytes, h);
    }
    check(Machine(topology), 0, 100000, 0);
  }
  for (int i = 0; i < 100; ++i) {
    std::vector<DimensionShape> extents(1 + support::random_below(random, 4));
    for (DimensionShape& d : extents) {
      d = {static_cast<std::int32_t>(1 + support::random_below(random, extents.size() > 2 ? 6 : 14)),
           support::random_below(random, 3) > 0 ? Wiring::line : Wiring::ring};
    }
    const Topology topology(extents);
    const auto ports = static_cast<int>(topology.max_ports());
    const Machine machine(topology,
                          ports > 2 ? static_cast<int>(2 + support::random_below(random, static_cast<std::uint64_t>(ports) - 1)) : 0);
    const std::vector<std::uint32_t> possible = values_on(machine);
    check(machine, support::random_below(random, topology.nodes()), support::random_below(random, 500),
          possible[support::random_below(random, possible.size())]);
  }
}

TEST_CASE("swath holds on complete dimensions", "[conformance]") {
  std::mt19937_64 random(support::seed());
  for (const char* shape : {"1c", "2c", "5c", "16c", "4cx4c", "3x4c", "4cx3m", "2cx3cx4c", "3cx4mx2x1", "6x2c"}) {
    const Topology topology = Topology::parse(shape);
    for (const std::uint32_t h : values_on(Machine(topology))) {
      for (const Bytes bytes : {Bytes{0}, Bytes{7}, Bytes{support::random_below(random, 3000)}})
        check(Machine(topology), support::random_below(random, topology.nodes()), bytes, h);
    }
    check(Machine(topology), 0, 100000, 0);
  }
  const Plan plan = support::broadcast("swath").plan(Machine(Topology::parse("16c")), request_of(0, 16 * 15, 16));
  CHECK(plan.steps == 2);
  CHECK(plan.channel_bytes == 2 * 15);
}

TEST_CASE("swath makes use of two ports or more", "[conformance]") {
  std::mt19937_64 random(support::seed());
  for (const char* shape : {"5x5", "7x4", "4x4x4", "3x5x2", "2x2x2x2", "9"}) {
    const Topology topology = Topology::parse(shape);
    for (int ports = 2; ports < static_cast<int>(topology.max_ports()); ++ports) {
      const Machine machine(topology, ports);
      for (const std::uint32_t h : values_on(machine))
        check(machine, support::random_below(random, topology.nodes()), support::random_below(random, 3000), h);
      for (const Bytes bytes : {Bytes{1000}, Bytes{100000}, Bytes{1} << 22U})
        check(machine, support::random_below(random, topology.nodes()), bytes, 0);
    }
  }
  const auto channel_bytes = [](int ports) {
    return support::broadcast("swath").plan(Machine(Topology::parse("16x16"), ports), request_of(0, Bytes{1} << 28U, 0)).channel_bytes;
  };
  CHECK(channel_bytes(3) < 0.85 * channel_bytes(2));  // an odd port helps
  CHECK(channel_bytes(4) < 0.8 * channel_bytes(3));
}

TEST_CASE("swath scatters whole dimensions where a message is long", "[conformance]") {
  std::mt19937_64 random(support::seed());
  const Machine machine(Topology::parse("8x8x8"));
  for (const std::uint32_t h : {16U, 32U, 64U, 512U}) check(machine, support::random_below(random, 512), 100001, h);
  CHECK(point("8x8x8", 32).first == 2 + 7 + 4);
  CHECK(point("8x8x8", 32).second == Approx(1 + 7.0 / 8 + 3.25 / 8));  // to the planes, back, and an 8th of the point of 8x8 with h = 4
}
