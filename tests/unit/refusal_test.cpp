// The reasons to refuse that algorithms share: one line each, and the sides that they suggest.
#include "algorithms/common/refusal.hpp"

#include <cstdint>

#include "tests/support/catch.hpp"

namespace torus {

TEST_CASE("the side of a cube is the root rounded down, exact at powers", "[unit]") {
  CHECK(refusal::side_of_cube(2, 24) == 4);
  CHECK(refusal::side_of_cube(2, 25) == 5);
  CHECK(refusal::side_of_cube(3, 124) == 4);
  CHECK(refusal::side_of_cube(3, 125) == 5);
  CHECK(refusal::side_of_cube(1, 77) == 77);
  CHECK(refusal::side_of_cube(31, std::uint64_t{1} << 31U) == 2);
  CHECK(refusal::side_of_cube(5, 1) == 1);
  for (std::uint64_t side = 1; side <= 1290; ++side) {
    CHECK(refusal::side_of_cube(3, side * side * side) == side);
    if (side > 1) CHECK(refusal::side_of_cube(3, side * side * side - 1) == side - 1);
  }
}

TEST_CASE("of two values that would do the nearer is suggested, the first of equals", "[unit]") {
  CHECK(refusal::nearer(10, 8, 16) == 8);
  CHECK(refusal::nearer(12, 8, 16) == 8);
  CHECK(refusal::nearer(13, 8, 16) == 16);
  CHECK(refusal::nearer(3, 5, 25) == 5);
}

TEST_CASE("the first reason to refuse is the one that is told", "[unit]") {
  CHECK_FALSE(refusal::first_of(refusal::Refusal{}, refusal::Refusal{}).has_value());
  CHECK(refusal::first_of(refusal::Refusal{}, refusal::Refusal{"b"}, refusal::Refusal{"c"}) == "b");
}

}  // namespace torus
