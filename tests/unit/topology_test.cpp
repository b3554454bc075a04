// SPDX-License-Identifier: MIT
#include "runtime/topology.hpp"

#include "tests/support/catch.hpp"

using namespace torus;

TEST_CASE("ranks are row-major, the last dimension fastest", "[unit]") {
  const Topology topology = Topology::parse("3x4x5");
  CHECK(topology.nodes() == 60);
  CHECK(topology.rank(Coordinates{1, 2, 3}) == (1 * 4 + 2) * 5 + 3);
  CHECK(topology.coordinates(33) == Coordinates{1, 2, 3});
  CHECK(topology.stride(0) == 20);
  CHECK(topology.stride(2) == 1);
}
