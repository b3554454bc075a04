// The reduction in the fewest steps over shared channels.
#include <cstdint>
#include <random>

#include "algorithms/common/integers.hpp"
#include "algorithms/search/lattice_table.hpp"
#include "tests/support/halves.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;
using namespace torus::support;

namespace {

std::uint64_t fewest_steps(const Topology& topology) {
  return topology.nodes() == 1 ? 0 : ceil_log(1 + static_cast<std::uint64_t>(topology.max_ports()), topology.nodes());
}

}  // namespace

TEST_CASE("lattice takes the fewest steps there can be, at times one more, and every node gives each block once", "[conformance]") {
  std::size_t shapes = 0, fewest = 0;
  std::mt19937_64 random(seed());
  for (const Topology& topology : tori_of_halves(48)) {
    CAPTURE(topology.text());
    if (topology.nodes() > 30 && random_below(random, 3) > 0) continue;  // long searches: a third of them, by the seed
    const HalfFigures half = halves_on("lattice", topology);
    CHECK(half.segments == topology.nodes());
    CHECK(half.combined == topology.nodes() - 1);  // taking is free, and every contributor counts once
    CHECK(half.steps >= fewest_steps(topology));
    CHECK(half.steps <= fewest_steps(topology) + 1);
    ++shapes;
    if (half.steps == fewest_steps(topology)) ++fewest;
  }
  CAPTURE(fewest, shapes);
  CHECK(5 * fewest >= 4 * shapes);
}

TEST_CASE("the known offsets give so many blocks a step and so many times the bytes that any reduction needs", "[conformance]") {
  const auto excess = [](const char* shape, std::size_t steps) {
    const Topology topology = Topology::parse(shape);
    const LatticeTable table = LatticeTable::find(topology);
    CHECK(table.complete());
    CHECK(table.steps() == steps);
    return static_cast<double>(table.channel()) * topology.max_ports() / (topology.nodes() - 1);
  };
  CHECK(excess("5x5", 2) < 1.34);
  CHECK(excess("8x8", 3) < 1.78);
  CHECK(excess("9x9", 3) < 1.66);
  CHECK(excess("15x15", 4) < 1.47);
  CHECK(excess("16x16", 4) < 1.70);
  CHECK(excess("25x25", 4) < 1.54);
  CHECK(excess("8x8x8", 4) < 1.60);
  CHECK(excess("4x4x4x4", 3) < 1.61);
  CHECK(excess("12x40", 4) < 2.22);
}

TEST_CASE("a perfect code gives each block by one way", "[conformance]") {
  const LatticeTable table = LatticeTable::find(Topology::parse("5x5"));
  for (const std::size_t step : {0U, 1U}) {
    for (const auto& blocks : table.given(step)) CHECK(blocks.size() == (step == 0 ? 5U : 1U));
  }
}
