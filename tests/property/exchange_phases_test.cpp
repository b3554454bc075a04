/// The assignments of classes to the exchanges along each dimension: each exchange carries each offset once, and no class is in two
/// dimensions at once.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "algorithms/common/shapes.hpp"
#include "algorithms/total_exchange/phase_assignment.hpp"
#include "algorithms/total_exchange/phases.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;
using namespace torus::total_exchange;

namespace {

/// Each exchange along a dimension carries each offset but 0 exactly once.
bool carries_each_offset_once(const Topology& topology, const ExchangeOf& exchange_of) {
  const std::vector<Dimension> dimensions = linked_dimensions(topology);
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const auto n = static_cast<std::uint32_t>(topology.extent(dimensions[i]));
    std::vector<int> carried(topology.nodes(), 0);
    for (NodeId delta = 0; delta < topology.nodes(); ++delta) {
      const auto offset = static_cast<std::uint32_t>(topology.coordinate(delta, dimensions[i]));
      if (offset == 0) continue;
      const std::uint32_t f = exchange_of(delta, i);
      if (f >= topology.nodes() / n || carried[std::size_t{f} * n + offset]++ != 0) return false;
    }
  }
  return true;
}

/// The first attempt that keeps every class out of two dimensions at once; `most` if none does.
std::uint32_t attempts(const Topology& topology, std::uint32_t most) {
  for (std::uint32_t attempt = 0; attempt < most; ++attempt) {
    const std::optional<ExchangeAssignment> assignment = assign_exchanges(topology, attempt);
    if (!assignment) continue;
    const auto exchange_of = [&](NodeId delta, std::size_t i) { return (*assignment)[i][delta]; };
    if (!carries_each_offset_once(topology, exchange_of)) return most;
    if (one_dimension_at_a_time(topology, exchange_of)) return attempt;
    if (attempt > 0) return most;  // what was matched must hold
  }
  return most;
}

}  // namespace

TEST_CASE("equal dimensions: both assignments fill every phase and never need a class in two dimensions at once", "[property]") {
  for (const char* shape : {"1",   "2",   "7",   "2x2", "3x3", "4x4", "5x1x5", "14x14", "2^3",      "3^3",  "6^3",
                            "2^4", "3^4", "4^4", "2^5", "3^5", "2^6", "2^7",   "2^8",   "mesh:4x4", "5cx5c"}) {
    CAPTURE(shape);
    const Topology topology = Topology::parse(shape);
    const std::size_t k = linked_dimensions(topology).size();
    const ExchangeOf closed_form = [&](NodeId delta, std::size_t i) { return closed_form_phase(topology, delta, i); };
    CHECK(carries_each_offset_once(topology, closed_form));
    CHECK(one_dimension_at_a_time(topology, closed_form));
    if (k == 0 || (k & (k - 1)) != 0) continue;
    const ExchangeOf halving = [&](NodeId delta, std::size_t i) { return halving_phase(topology, delta, i); };
    CHECK(carries_each_offset_once(topology, halving));
    CHECK(one_dimension_at_a_time(topology, halving));
  }
}

TEST_CASE("two unequal dimensions: the first order of the classes does", "[property]") {
  for (std::int32_t a = 2; a <= 14; ++a) {
    for (std::int32_t b = a + 1; b <= 14; ++b) {
      for (const Wiring wiring : {Wiring::ring, Wiring::line}) {
        CAPTURE(a, b, wiring);
        CHECK(attempts(Topology({{b, wiring}, {a, wiring}}), 1) == 0);
      }
    }
  }
}

TEST_CASE("shapes of any wiring: a way to keep every class out of two dimensions at once is found", "[property]") {
  CAPTURE(support::seed());
  std::mt19937_64 random(support::seed());
  std::vector<Topology> shapes;
  for (const char* text : {"10x2cx2c", "2x2x7", "2x2x2x3", "2x3x2x5", "mesh:2x2x9", "3x2cx2cx2c", "1x5x2"})
    shapes.push_back(Topology::parse(text));
  while (shapes.size() < 300) {
    Topology shape = support::random_topology(random, 200);
    const std::vector<Dimension> dimensions = linked_dimensions(shape);
    const bool equal =
        std::all_of(dimensions.begin(), dimensions.end(), [&](Dimension d) { return shape.extent(d) == shape.extent(dimensions[0]); });
    if (!equal) shapes.push_back(std::move(shape));  // else the closed form does
  }
  for (const Topology& topology : shapes) {
    const std::string shape = topology.text();
    CAPTURE(shape);
    CHECK(attempts(topology, 10) < 10);
  }
}

TEST_CASE("whatever the order of the classes, a matching keeps them out of two dimensions at once", "[property]") {
  for (const char* shape : {"4x6", "3x4c", "2x2x5", "2x3x4", "mesh:5x2x3", "10x2cx2c"}) {
    const Topology topology = Topology::parse(shape);
    int found = 0;
    for (std::uint32_t attempt = 1; attempt < 8; ++attempt) {
      CAPTURE(shape, attempt);
      const std::optional<ExchangeAssignment> assignment = assign_exchanges(topology, attempt);
      if (!assignment) continue;
      const auto exchange_of = [&](NodeId delta, std::size_t i) { return (*assignment)[i][delta]; };
      CHECK(carries_each_offset_once(topology, exchange_of));
      CHECK(one_dimension_at_a_time(topology, exchange_of));
      ++found;
    }
    CAPTURE(shape);
    CHECK(found > 0);
  }
}
