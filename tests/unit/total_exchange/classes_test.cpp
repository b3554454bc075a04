/// Ranks and classes of a total exchange: offsets, ways, and displacements in base 3.
#include "algorithms/total_exchange/classes.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>

#include <torus/topology.hpp>

#include "algorithms/common/shapes.hpp"
#include "tests/support/catch.hpp"

using namespace torus;
using namespace torus::total_exchange;

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
