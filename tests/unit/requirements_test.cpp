// The sides that refusals suggest.
#include <cstdint>

#include <torus/requirements.hpp>

#include "tests/support/catch.hpp"

namespace torus {

TEST_CASE("the side of a cube is the root rounded down, exact at powers", "[unit]") {
  CHECK(root_below(2, 24) == 4);
  CHECK(root_below(2, 25) == 5);
  CHECK(root_below(3, 124) == 4);
  CHECK(root_below(3, 125) == 5);
  CHECK(root_below(1, 77) == 77);
  CHECK(root_below(31, std::uint64_t{1} << 31U) == 2);
  CHECK(root_below(5, 1) == 1);
  for (std::uint64_t side = 1; side <= 1290; ++side) {
    CHECK(root_below(3, side * side * side) == side);
    if (side > 1) CHECK(root_below(3, side * side * side - 1) == side - 1);
  }
}

}  // namespace torus
