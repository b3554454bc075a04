#include <algorithm>
#include <cstdlib>
#include <map>

#include <torus/topology.hpp>

#include "algorithms/total_exchange/classes.hpp"
#include "tests/support/catch.hpp"

using namespace torus;
using namespace torus::total_exchange;

namespace {

std::int32_t sum(const TernaryRing& ring, const TernaryRing::Digits& digits, bool hops) {
  std::int32_t sum = 0;
  for (std::size_t i = 0; i < ring.weights(); ++i) sum += ring.weight(i) * (hops ? std::abs(digits[i]) : digits[i]);
  return sum;
}

/// The fewest hops by displacement, by trying every choice of digits.
std::map<std::int32_t, std::int32_t> fewest_hops(const TernaryRing& ring, std::int32_t n) {
  std::map<std::int32_t, std::int32_t> fewest;
  TernaryRing::Digits digits(ring.weights(), -1);
  for (bool more = true; more;) {
    const std::int32_t hops = sum(ring, digits, true);
    const auto [at, added] = fewest.emplace(modulo(sum(ring, digits, false), n), hops);
    if (!added) at->second = std::min(at->second, hops);
    more = false;
    for (auto& digit : digits) {
      more = digit < 1;
      digit = static_cast<std::int8_t>(more ? digit + 1 : -1);
      if (more) break;
    }
  }
  return fewest;
}

}  // namespace

TEST_CASE("every displacement of a ring is a sum of weights in base 3, with the fewest hops", "[unit]") {
  for (std::int32_t n = 1; n <= 100; ++n) {
    CAPTURE(n);
    const TernaryRing ring(n);
    const auto fewest = fewest_hops(ring, n);
    for (std::int32_t displacement = 0; displacement < n && n > 1; ++displacement) {
      CAPTURE(displacement);
      REQUIRE_FALSE(ring.sums(displacement).empty());
      for (const TernaryRing::Digits& digits : ring.sums(displacement)) {
        REQUIRE(modulo(sum(ring, digits, false), n) == displacement);
        REQUIRE(sum(ring, digits, true) == fewest.at(displacement));
      }
    }
  }
}

TEST_CASE("the weights of a ring are powers of 3, and one for the rest", "[unit]") {
  const auto weights_of = [](std::int32_t n) {
    const TernaryRing ring(n);
    std::vector<std::int32_t> weights;
    for (std::size_t i = 0; i < ring.weights(); ++i) weights.push_back(ring.weight(i));
    return weights;
  };
  CHECK(weights_of(1).empty());
  CHECK(weights_of(2) == std::vector<std::int32_t>{1});
  CHECK(weights_of(8) == std::vector<std::int32_t>{1, 3});
  CHECK(weights_of(16) == std::vector<std::int32_t>{1, 3, 4});
  CHECK(weights_of(64) == std::vector<std::int32_t>{1, 3, 9, 19});
}
