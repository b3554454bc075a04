// Exchanges along the dimensions and scans along lines: every contributor once, in the steps and bytes that they promise.
#include <string>
#include <tuple>

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

TEST_CASE("a scan gives every node the contributions up to its own, on every shape, with one port and one spare register",
          "[conformance]") {
  const Algorithm& line = *find_algorithm(Collective::scan, "line");
  for (const Topology& topology : shapes()) {
    const Machine machine(topology, 1, Switching::packet);
    std::uint64_t steps = 0, before = 0;
    for (const DimensionShape& d : topology.shape()) {
      if (d.extent > 1) steps += ++before * static_cast<std::uint64_t>(d.extent - 1);
    }
    for (const Bytes bytes : {0U, 4U, 52U}) {
      CAPTURE(topology.text(), bytes);
      const auto [run, complaint] =
          support::judged(line, machine, support::reduction_request(Collective::scan, bytes, {Operator::sum, ElementType::f32}));
      CHECK(complaint == "");
      CHECK(run.result.steps == steps);
      CHECK(run.plan.registers <= 2);
    }
  }
}
