#include <string>

#include "algorithms/total_exchange/classes.hpp"
#include "tests/support/catch.hpp"

namespace torus::total_exchange {
namespace {

TEST_CASE("offsets are added and subtracted coordinate by coordinate, modulo the extents", "[unit]") {
  const std::string shape = GENERATE("1", "7", "2x2", "4x6", "1x3x5", "3x1x2x4m", "4cx3m");
  CAPTURE(shape);
  const Topology topology = Topology::parse(shape);
  const Offsets offsets(topology);
  bool right = true;
  for (NodeId x = 0; x < topology.nodes(); ++x) {
    for (NodeId delta = 0; delta < topology.nodes(); ++delta) {
      Coordinates sum = topology.coordinates(x);
      Coordinates difference = sum;
      for (std::size_t d = 0; d < sum.size(); ++d) {
        const std::int32_t step = topology.coordinate(delta, static_cast<Dimension>(d));
        sum[d] += step;
        difference[d] -= step;
      }
      right &= offsets.plus(x, delta) == topology.rank(sum) && offsets.minus(x, delta) == topology.rank(difference);
    }
  }
  CHECK(right);
}

TEST_CASE("a holder sees the origin and the destination of a block from where it stands", "[unit]") {
  const Topology topology = Topology::parse("4x5");
  const Offsets offsets(topology);
  // Node (3,4) = 19 holds what came from (3,4) + (2,1) = (1,0) = 5 and goes to (3,4) + (0,3) = (3,2) = 17.
  CHECK(offsets.block(19, {.origin = 2 * 5 + 1, .destination = 3}) == 5 * 20 + 17);
  // Its own block for itself.
  CHECK(offsets.block(19, {}) == 19 * 20 + 19);
}

}  // namespace
}  // namespace torus::total_exchange
