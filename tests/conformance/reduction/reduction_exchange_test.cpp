// Exchanges along the dimensions and scans along lines: every contributor once, in the steps and bytes that they promise.
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <torus/catalogue.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/judged.hpp"
#include "tests/support/run.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

std::vector<Topology> shapes() {
  std::vector<Topology> all = support::telling_shapes();
  for (const char* text : {"7x5", "1x7x2", "5mx3", "7mx2", "2x3x5m", "2x1x3x2", "3x2mx2x2", "4cx3m", "6x4m", "5x3c"})
    all.push_back(Topology::parse(text));
  return all;
}

Request in_variant(const char* variant, Bytes bytes, Reduction reduction) {
  Request request = support::reduction_request(Collective::allreduce, bytes, reduction);
  request.parameters.set("variant", variant);
  return request;
}

std::int32_t reach_of(const DimensionShape& d) {
  if (d.wiring == Wiring::complete) return d.extent > 1 ? 1 : 0;
  return d.wiring == Wiring::line ? d.extent - 1 : d.extent / 2;
}

}  // namespace

TEST_CASE("an exchange takes as many steps as the diameter, on every shape, with any vector", "[conformance]") {
  const Algorithm& exchange = *find_algorithm(Collective::allreduce, "exchange");
  for (const Topology& topology : shapes()) {
    const Machine machine(topology, 0, Switching::packet);
    for (const Bytes bytes : {0U, 4U, 52U}) {
      for (const Operator op : {Operator::sum, Operator::max}) {
        CAPTURE(topology.text(), bytes);
        const auto [run, complaint] = support::judged(exchange, machine, in_variant("whole", bytes, {op, ElementType::f32}));
        CHECK(complaint == "");
        CHECK(run.result.steps == static_cast<std::uint64_t>(topology.diameter()));
        CHECK(run.result.channel_bytes_sum == run.result.steps * bytes);
      }
    }
  }
}

TEST_CASE("a rotated exchange takes k times the longest reach with a k-th of the vector", "[conformance]") {
  const Algorithm& rotated = *find_algorithm(Collective::allreduce, "exchange");
  for (const Topology& topology : shapes()) {
    const Machine machine(topology, 0, Switching::packet);
    std::int32_t longest = 0;
    std::uint64_t linked = 0;
    for (const DimensionShape& d : topology.shape()) {
      longest = std::max(longest, reach_of(d));
      linked += d.extent > 1;
    }
    for (const Bytes bytes : {Bytes{0}, Bytes{4}, 60 * std::max<std::uint64_t>(1, linked)}) {
      CAPTURE(topology.text(), bytes);
      const auto [run, complaint] = support::judged(rotated, machine, in_variant("rotated", bytes, {Operator::sum, ElementType::u32}));
      CHECK(complaint == "");
      CHECK(run.result.steps == linked * static_cast<std::uint64_t>(longest));
      if (bytes % 60 == 0) CHECK(run.result.channel_bytes_sum * std::max<std::uint64_t>(1, linked) == run.result.steps * bytes);
    }
  }
}

TEST_CASE("an exchange rotates where that takes less model time and the ports allow it", "[conformance]") {
  const Algorithm& exchange = *find_algorithm(Collective::allreduce, "exchange");
  const auto chosen = [&](const char* shape, int ports) {
    return make_plan(exchange, Machine(Topology::parse(shape), ports, Switching::packet),
                     support::reduction_request(Collective::allreduce, 4096))
        .notes.back()
        .second;
  };
  CHECK(chosen("4x4", 0) == "rotated");
  CHECK(chosen("4x4", 2) == "whole");
  CHECK(chosen("2x12", 0) == "whole");
}

namespace {

/// Steps of a scan along the lines of one dimension.
std::uint64_t steps_of_line(const Topology& topology, Dimension d, int ports, bool first) {
  const auto& [extent, wiring] = topology.shape()[static_cast<std::size_t>(d)];
  const auto n = static_cast<std::uint64_t>(extent);
  if (wiring == Wiring::complete && ports + 1 >= extent) return 1;
  bool closes = wiring != Wiring::line;
  for (Dimension earlier = 0; topology.twisted() && earlier < d; ++earlier) closes = closes && topology.extent(earlier) <= extent;
  if (!closes) return ports == 1 && !first && n % 2 != 0 ? n : n - 1;
  return ports > 1 || n % 2 == 0 ? n / 2 : n == 3 ? 2 : (n + 3) / 2;
}

}  // namespace

TEST_CASE("a scan along lines gives every node the contributions up to its own, on every shape, with any ports, as predicted",
          "[conformance]") {
  const Algorithm& line = *find_algorithm(Collective::scan, "line");
  std::vector<Topology> all = shapes();
  for (const char* text :
       {"13", "2x9", "mesh:7", "5mx3", "3x5m", "4x8t", "8x4t", "2x4x4t", "4x2x4t", "5c", "6cx3", "3x4c", "9x2m", "mesh:3x2x5"})
    all.push_back(Topology::parse(text));
  for (const Topology& topology : all) {
    for (const int ports : {1, 2, 3, 0}) {
      if (ports > topology.max_ports()) continue;
      Machine machine(topology, ports, Switching::packet);
      machine.cost.combine_s = 5e-11;
      std::uint64_t steps = 0;
      bool first = true;
      for (Dimension d = 0; d < topology.dimensions(); ++d) {
        if (topology.extent(d) == 1) continue;
        steps += steps_of_line(topology, d, machine.ports, first);
        first = false;
      }
      for (const Bytes bytes : {0U, 4U, 52U}) {
        CAPTURE(topology.text(), ports, bytes);
        const auto [run, complaint] =
            support::judged(line, machine, support::reduction_request(Collective::scan, bytes, {Operator::sum, ElementType::f32}));
        CHECK(complaint == "");
        CHECK(run.result.steps == steps);
        CHECK(run.plan.registers <= 4);
      }
    }
  }
}

TEST_CASE("a scan along lines goes round dead links, one in each ring, as predicted", "[conformance]") {
  const Algorithm& line = *find_algorithm(Collective::scan, "line");
  const Request request = support::reduction_request(Collective::scan, 24);
  std::mt19937_64 random(support::seed());
  for (int turn = 0; turn < 40; ++turn) {
    std::string shape;
    for (auto d = 1 + support::random_below(random, 3); d > 0; --d)
      shape += (shape.empty() ? "" : "x") + std::to_string(2 + support::random_below(random, turn % 2 == 0 ? 7 : 4));
    const Topology whole = Topology::parse(shape);
    std::vector<Link> dead;
    std::set<std::pair<Dimension, NodeId>> rings;
    for (auto links = 1 + support::random_below(random, 4); links > 0; --links) {
      const auto node = static_cast<NodeId>(support::random_below(random, whole.nodes()));
      const auto d = static_cast<Dimension>(support::random_below(random, static_cast<std::uint64_t>(whole.dimensions())));
      if (rings.emplace(d, node - static_cast<NodeId>(whole.coordinate(node, d)) * whole.stride(d)).second) dead.push_back({node, d, +1});
    }
    const Topology topology = whole.with_faults({.dead_links = dead});
    Machine machine(topology, static_cast<int>(1 + support::random_below(random, static_cast<std::uint64_t>(topology.max_ports()))),
                    Switching::packet);
    machine.cost.combine_s = 5e-11;
    CAPTURE(support::seed(), turn, topology.text(), machine.ports);
    REQUIRE_FALSE(refuses(line, machine, request));
    const auto [run, complaint] = support::judged(line, machine, request);
    CHECK(complaint == "");
    for (Dimension d = 0; d < topology.dimensions(); ++d) CHECK(run.plan.steps >= static_cast<std::uint64_t>(topology.extent(d) / 2));
  }
  const auto refused = [&](const char* shape, Faults faults) {
    return refuses(line, Machine(Topology::parse(shape).with_faults(std::move(faults)), 0, Switching::packet), request).has_value();
  };
  CHECK_FALSE(refused("6x6", {.dead_links = {{3, 0, 1}}}));
  CHECK(refused("6x6", {.dead_links = {{3, 0, 1}, {15, 0, 1}}}));  // both in column 3
  CHECK(refused("6x6", {.dead_nodes = {3}}));
  CHECK(refused("mesh:6x6", {.dead_links = {{3, 0, 1}}}));
  CHECK(refused("6x6c", {.dead_links = {{3, 1, 1}}}));
}
