#include <numeric>

#include <torus/catalogue.hpp>

#include "algorithms/broadcast/circuit/steps.hpp"
#include "tests/support/catch.hpp"

using namespace torus;
using namespace torus::broadcast;

namespace {

std::int64_t power(std::int64_t base, std::uint32_t exponent) {
  std::int64_t value = 1;
  while (exponent-- > 0) value *= base;
  return value;
}

}  // namespace

TEST_CASE("the caps of a large and a small gap together grow by ports + 1 each step", "[unit]") {
  for (std::int32_t ports = 3; ports <= 10; ++ports) {
    for (std::uint32_t steps = 0; steps <= 8; ++steps) {
      CAPTURE(ports, steps);
      const GapCaps full = gap_caps(GapBase::full, ports, steps);
      const GapCaps unit = gap_caps(GapBase::unit, ports, steps);
      CHECK(full.large + full.small == power(ports + 1, steps));
      CHECK(unit.large + unit.small == 2 * power(ports + 1, steps));
    }
  }
}

TEST_CASE("a gap within its cap is cut in parts within theirs, of alternate kinds and in an odd number", "[unit]") {
  for (std::int32_t ports = 3; ports <= 8; ++ports) {
    for (std::uint32_t steps = 0; steps <= 2; ++steps) {
      for (const bool large : {true, false}) {
        const GapCaps before = gap_caps(GapBase::full, ports, steps + 1);
        const GapCaps after = gap_caps(GapBase::full, ports, steps);
        for (std::int32_t gap = 0; gap <= (large ? before.large : before.small); ++gap) {
          CAPTURE(ports, steps, large, gap);
          const auto parts = cut_gap(GapBase::full, gap, large, ports, steps);
          REQUIRE(parts.size() % 2 == 1);
          REQUIRE(std::accumulate(parts.begin(), parts.end(), 0) == gap);
          for (std::size_t i = 0; i < parts.size(); ++i) REQUIRE(parts[i] <= (large == (i % 2 == 0) ? after.large : after.small));
        }
      }
    }
  }
}

TEST_CASE("towards unit gaps no part is 0 and at most one is even", "[unit]") {
  for (std::int32_t ports = 3; ports <= 8; ++ports) {
    for (const bool large : {true, false}) {
      for (std::int32_t gap = 1; gap <= 200; ++gap) {
        CAPTURE(ports, large, gap);
        const auto parts = cut_gap(GapBase::unit, gap, large, ports, 1);
        REQUIRE(parts.size() % 2 == 1);
        REQUIRE(std::accumulate(parts.begin(), parts.end(), 0) == gap);
        REQUIRE(*std::min_element(parts.begin(), parts.end()) >= 1);
        REQUIRE(std::count_if(parts.begin(), parts.end(), [](std::int32_t part) { return part % 2 == 0; }) == (gap % 2 == 0 ? 1 : 0));
      }
    }
  }
}

TEST_CASE("any spread of positions reaches its base in ceil(log((length)/m)) steps", "[unit]") {
  for (std::int32_t ports = 3; ports <= 8; ++ports) {
    for (std::int32_t extent = 2; extent <= 130; ++extent) {
      for (std::int32_t m = 2; m <= extent; m += (m < 8 ? 2 : 14)) {
        for (const GapBase base : {GapBase::full, GapBase::unit}) {
          CAPTURE(ports, extent, m, base == GapBase::full);
          const std::uint32_t steps = expanding_steps(base, extent, m, ports);
          // 2 n / m rounded up, or all but the odd one out: the least number of steps by counting.
          const std::int64_t positions = base == GapBase::full ? 2 * extent : extent - extent % 2;
          REQUIRE(m * power(ports + 1, steps) >= positions);
          REQUIRE((steps == 0 || m * power(ports + 1, steps - 1) < positions));
          GapSequence sequence = GapSequence::spread(base, extent, m, ports);
          REQUIRE(sequence.size() == m);
          for (std::int32_t i = 0; i < m; ++i) REQUIRE(sequence.gap(i) >= 1);
          for (std::uint32_t left = steps; left > 0; --left) sequence = sequence.refined(sequence.cuts(base, ports, left - 1));
          std::int32_t wide = 0;
          for (std::int32_t i = 0; i < sequence.size(); ++i) {
            if (base == GapBase::full) {
              REQUIRE(sequence.gap(i) <= (i % 2 == 0 ? 1 : 0));
            } else {
              REQUIRE(sequence.gap(i) >= 1);
              REQUIRE(sequence.gap(i) <= 2);
              wide += sequence.gap(i) - 1;
            }
          }
          if (base == GapBase::unit) REQUIRE(wide == extent % 2);
        }
      }
    }
  }
}

TEST_CASE("indices go round the ring: one turn further is an extent further", "[unit]") {
  const GapSequence sequence(10, {0, 3, 5, 9});
  CHECK(sequence.position(4) == 10);
  CHECK(sequence.position(-1) == -1);
  CHECK(sequence.position(7) == 19);
  CHECK(sequence.gap(3) == 1);
  CHECK(sequence.hops(1, -3) == -8);
  CHECK(sequence.index_of(5) == 2);
  CHECK(sequence.index_of(4) == -1);
}
