/// squeeze-expand over all its range: every variant legal and complete in the steps of its formula; the best never above the theorems;
/// the same on the engine with real bytes.
#include <random>

#include <torus/engine.hpp>

#include "algorithms/broadcast/circuit/squeeze_variants.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/emulate.hpp"
#include "tests/support/schedule_judge.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;
using namespace torus::broadcast;

namespace {

const Algorithm& squeeze_expand = support::broadcast("squeeze-expand");

/// Least T with (ports+1)^T >= p/q.
std::uint64_t log_of(std::int32_t ports, std::int64_t p, std::int64_t q) {
  std::uint64_t steps = 0;
  for (std::int64_t reach = q; reach < p; reach *= ports + 1) ++steps;
  return steps;
}

/// Theorems 3 and 4 (2D, 4 and 3 ports), 7 and 8 (3D, 6 and 4), 9 (3D, 5 and 3).
std::uint64_t theorem(const Topology& topology, std::int32_t ports) {
  std::vector<std::int64_t> n;
  for (const Dimension d : wide_dimensions(topology)) n.push_back(topology.extent(d));
  const std::int64_t doubled = ports % 2 == 0 ? 1 : 2;
  const std::uint64_t odd = n[0] % 2 == 0 ? 0 : 1;
  const auto log = [&](std::int64_t p, std::int64_t q) { return log_of(ports, p, q); };
  if (n.size() == 2) return log(n[0], 1) + log(n[0], 2) + log(doubled * n[1], n[0]) + 1 + odd;
  return 3 * log(n[0], 2) + log(doubled * n[1], n[0]) + log(doubled * n[2], n[0]) + 2 + odd;
}

Topology torus_of(const std::vector<std::int32_t>& extents) {
  std::vector<DimensionShape> shape;
  for (const std::int32_t n : extents) shape.push_back({n, Wiring::ring});
  return Topology(std::move(shape));
}

Request broadcast_from(NodeId source, Bytes bytes = 0, std::string_view variant = {}) {
  Request request;
  request.sources = {source};
  request.bytes = bytes;
  request.parameters.set("variant", variant);
  return request;
}

/// Every variant on the bare rules; gives the fewest steps.
std::uint64_t check_variants(const Topology& topology, std::int32_t ports, std::uint64_t closing_over_formula) {
  const bool planar = wide_dimensions(topology).size() == 2;
  std::uint64_t best = ~std::uint64_t{0};
  for (const SqueezeVariant& variant : planar ? planar_variants(topology, ports) : solid_variants(topology, ports)) {
    CAPTURE(topology.text(), ports, variant.name);
    const CircuitSchedule schedule = variant.build();
    const support::Judgement judgement = support::judge(topology, ports, schedule);
    REQUIRE(judgement.violation == "");
    REQUIRE(judgement.informed.size() == topology.nodes());
    REQUIRE(judgement.idle_steps == 0);
    const bool closes = variant.name == "pairs" || variant.name == "plan-a";
    REQUIRE(schedule.steps() >= variant.min_steps);
    REQUIRE(schedule.steps() <= variant.min_steps + (closes ? closing_over_formula : 0));
    best = std::min(best, schedule.steps());
  }
  return best;
}

void check_best(const std::vector<std::int32_t>& extents, std::int32_t ports) {
  const Topology topology = torus_of(extents);
  const std::uint64_t best = check_variants(topology, ports, 1);
  CAPTURE(topology.text(), ports);
  const Machine machine(topology, ports, Switching::circuit);
  REQUIRE(squeeze_expand.plan(machine, broadcast_from(0)).steps == best);
  REQUIRE(best <= theorem(topology, ports));
}

}  // namespace

TEST_CASE("squeeze-expand keeps theorems 3 and 4 on all 2D tori to 40x40", "[conformance]") {
  support::Share share(3);
  for (std::int32_t ports = 3; ports <= 4; ++ports) {
    for (std::int32_t a = 2; a <= 40; ++a) {
      if (!share.takes_turn()) continue;
      for (std::int32_t b = 2; b <= 40; ++b) check_best({a, b}, ports);
    }
  }
}

TEST_CASE("squeeze-expand keeps theorems 3 and 4 on long, thin and just full 2D tori", "[conformance]") {
  for (std::int32_t ports = 3; ports <= 4; ++ports) {
    for (const auto& [a, b] :
         {std::pair{26, 1000}, {1000, 26}, {2, 1562}, {3, 1041}, {4, 781}, {781, 4}, {25, 26}, {124, 126}, {5, 640}, {7, 999}}) {
      check_best({a, b}, ports);
    }
  }
}

TEST_CASE("squeeze-expand keeps theorems 7 to 9 on all 3D tori with sides 2 to 12", "[conformance]") {
  for (std::int32_t ports = 3; ports <= 6; ++ports) {
    for (std::int32_t a = 2; a <= 12; ++a) {
      for (std::int32_t b = a; b <= 12; ++b) {
        for (std::int32_t c = b; c <= 12; ++c) check_best({a, b, c}, ports);
      }
    }
  }
}

TEST_CASE("squeeze-expand keeps theorems 7 to 9 on random 3D tori, long ones among them", "[conformance]") {
  std::mt19937_64 random(support::seed());
  CAPTURE(support::seed());
  for (int trial = 0; trial < 200; ++trial) {
    const bool is_long = trial % 3 == 0;
    std::vector<std::int32_t> extents;
    for (const std::uint32_t most : {is_long ? 9U : 22U, 22U, is_long ? 120U : 22U}) {
      extents.push_back(static_cast<std::int32_t>(2 + support::random_below(random, most)));
    }
    std::shuffle(extents.begin(), extents.end(), random);
    check_best(extents, static_cast<std::int32_t>(3 + support::random_below(random, 4)));
  }
}

TEST_CASE("squeeze-expand in 4 and 5 dimensions takes at most one and two steps more than its formula", "[conformance]") {
  for (std::int32_t ports = 3; ports <= 10; ++ports) {
    for (std::uint32_t code = 0; code < 81; ++code) {
      const auto side = [&](std::uint32_t divisor) { return static_cast<std::int32_t>(2 + code / divisor % 3); };
      if (ports <= 8) check_variants(torus_of({side(1), side(3), side(9), side(27)}), ports, 1);
      if (code % 3 < 2) check_variants(torus_of({2, side(1), 3, side(3) % 2 + 2, 2 + side(9) % 2}), ports, 2);
    }
  }
}

TEST_CASE("variants with a closing among too many nodes are left out, and refused where none is left", "[conformance]") {
  const auto refusal = [](const char* variant, const char* text, int ports) {
    return why_not(squeeze_expand, Machine(Topology::parse(text), ports, Switching::circuit), broadcast_from(0, 0, variant));
  };
  CHECK(refusal("pairs", "163x163x163", 4).find("4330747 nodes, of at most 4194304; 162x162x162 would do") != std::string::npos);
  CHECK(refusal("pairs", "162x162x162", 4).empty());
  CHECK(refusal("pairs", "161x161x161", 4).empty());
  CHECK(refusal("", "163x163x163", 6).find("162x162x162 would do") != std::string::npos);
  CHECK(refusal("", "163x163x163", 4).empty());  // plan B has no closing
  const Machine machine(Topology::parse("163x163x163"), 4, Switching::circuit);
  CHECK(squeeze_expand.plan(machine, broadcast_from(0)).notes.front().second == "plan-b");
}
