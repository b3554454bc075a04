#include <cstdlib>
#include <map>

#include "algorithms/common/shapes.hpp"
#include "algorithms/total_exchange/classes.hpp"
#include "tests/support/catch.hpp"

using namespace torus;
using namespace torus::total_exchange;

TEST_CASE("every class goes a shortest way, and ties are shared out evenly within each dimension and group", "[unit]") {
  for (const char* shape : {"1", "2", "5", "6", "4x4", "2x6", "3x4x5", "2x2x2", "1x8"}) {
    CAPTURE(shape);
    const Topology topology = Topology::parse(shape);
    const Rotation rotation(topology);
    const ClassHops hops(topology, [&](NodeId delta) { return rotation.group(delta); });
    std::map<std::pair<Dimension, std::uint32_t>, std::int32_t> balance;
    for (NodeId delta = 0; delta < topology.nodes(); ++delta) {
      for (Dimension d = 0; d < topology.dimensions(); ++d) {
        const std::int32_t n = topology.extent(d);
        CHECK(modulo(hops(delta, d), n) == topology.coordinate(delta, d));
        CHECK(2 * std::abs(hops(delta, d)) <= n);
        if (2 * std::abs(hops(delta, d)) == n) balance[{d, rotation.group(delta)}] += hops(delta, d) > 0 ? 1 : -1;
      }
    }
    for (const auto& [where, difference] : balance) CHECK((difference == 0 || difference == 1));
  }
}

TEST_CASE("in every stage of a rotation each dimension with links has a group of its own, and each group meets every dimension", "[unit]") {
  for (const char* shape : {"1", "7", "4x4", "1x3x5", "2x3x4x5"}) {
    CAPTURE(shape);
    const Topology topology = Topology::parse(shape);
    const Rotation rotation(topology);
    REQUIRE(rotation.groups() == linked_dimensions(topology).size());
    for (NodeId delta = 0; delta < topology.nodes(); ++delta) {
      std::map<Dimension, int> met;
      for (std::uint32_t stage = 0; stage < rotation.groups(); ++stage) {
        ++met[rotation.dimension(delta, stage)];
        for (NodeId other = 0; other < delta; ++other) {
          CHECK((rotation.group(other) == rotation.group(delta)) == (rotation.dimension(other, stage) == rotation.dimension(delta, stage)));
        }
      }
      CHECK(met.size() == rotation.groups());
    }
  }
}
