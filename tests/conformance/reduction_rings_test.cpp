// Reduce-scatter, all-reduce and multi-node broadcast along the rings, lines and complete dimensions of a machine.
#include <algorithm>
#include <cstdint>
#include <string>

#include "algorithms/reduction/ring_halves.hpp"
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
    CHECK(halves_on("rings", topology).steps == wide * longest);
    CHECK(halves_on("rings-single", topology).steps == sum);
  }
}

TEST_CASE("rings of different sides take the steps and bytes that were worked out for them", "[conformance]") {
  struct Known {
    const char* shape;
    std::uint64_t steps, blocks;
  };
  for (const Known& known : {Known{"4x6", 6, 25}, Known{"16x16", 16, 255}, Known{"8x8x8", 12, 511}, Known{"12x40", 40, 507}}) {
    CAPTURE(std::string(known.shape));
    const Topology topology = Topology::parse(known.shape);
    const reduction::RingHalves halves(topology, static_cast<std::uint32_t>(topology.dimensions()), 2,
                                       reduction::RingHalves::Numbering::by_owner);
    CHECK(halves.steps() == known.steps);
    CHECK(halves.load().channel == known.blocks);
  }
}

TEST_CASE("rings halve the antipode's last block where that saves bytes, and not where it costs the rest of an element", "[conformance]") {
  const Machine machine(Topology::parse("8x8x8"), 0, Switching::packet);
  const Algorithm& rings = *find_algorithm(Collective::allreduce, "rings");
  const auto segments = [&](Bytes elements) {
    return make_plan(rings, machine, reduction_request(Collective::allreduce, 4 * elements)).segments;
  };
  CHECK(segments(Bytes{6} * 512 * 100) == 6 * 512);
  CHECK(segments(Bytes{6} * 512 + 3) == 3 * 512);
}

TEST_CASE("rings leave one trace, whatever the executor", "[conformance]") {
  for (const char* shape : {"4x3m", "3x4c", "2x2x3"}) {
    same_on_every_executor("rings", Topology::parse(shape));
    same_on_every_executor("rings-single", Topology::parse(shape));
  }
}
