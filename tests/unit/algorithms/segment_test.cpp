// The splitting rule: the vectors worked out by hand, and its promise for every length that a test has time for.
#include "algorithms/lines/segment.hpp"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include <torus/catalogue.hpp>

#include "algorithms/common/integers.hpp"
#include "tests/support/catch.hpp"

namespace torus {
namespace {

using Children = std::vector<std::tuple<std::int32_t, std::int32_t, std::int32_t>>;  // offset, length, track

struct Vector {
  std::int32_t ports, length, own;
  Children children;
};

const std::vector<Vector> vectors{
    {4, 6, 2, {{2, 1, 1}, {3, 1, 2}, {-1, 1, 1}, {-2, 1, 2}}},
    {4, 7, 2, {{2, 1, 1}, {3, 1, 2}, {-2, 2, 1}, {-3, 1, 2}}},
    {4, 25, 5, {{5, 5, 1}, {10, 5, 2}, {-5, 5, 1}, {-10, 5, 2}}},
    {6, 50, 8, {{8, 7, 1}, {15, 7, 2}, {22, 7, 3}, {-7, 7, 1}, {-14, 7, 2}, {-21, 7, 3}}},
    {3, 16, 4, {{4, 4, 1}, {8, 4, 2}, {-4, 4, 1}}},
    {5, 36, 6, {{6, 6, 1}, {12, 6, 2}, {18, 6, 3}, {-6, 6, 1}, {-12, 6, 2}}},
    {1, 5, 3, {{3, 2, 1}}},
};

}  // namespace

TEST_CASE("a segment is split as the worked examples say", "[unit]") {
  for (const Vector& v : vectors) {
    CAPTURE(v.ports, v.length);
    Children children;
    const std::int32_t own =
        segment::split(v.length, v.ports, [&](const segment::Child& c) { children.emplace_back(c.offset, c.length, c.track); });
    CHECK(own == v.own);
    CHECK(children == v.children);
  }
  CHECK(segment::left_of(16, 3) == 5);
  CHECK(segment::left_of(36, 5) == 14);
  CHECK(segment::left_of(5, 1) == 0);
}

TEST_CASE("a segment of one place is not split", "[unit]") {
  for (std::int32_t ports = 1; ports <= 10; ++ports) {
    CHECK(segment::split(1, ports, [](const segment::Child&) { FAIL("a segment of one place has no child"); }) == 1);
  }
}

TEST_CASE("own part and children tile the segment, each with its owner at its place, none longer than a share", "[unit]") {
  for (std::int32_t ports = 1; ports <= 10; ++ports) {
    for (std::int32_t length = 2; length <= 6000; ++length) {
      // Intervals relative to the owner; the segment is [-left_of(length), right_of(length)].
      struct Interval {
        std::int32_t first, last;
      };
      std::vector<Interval> parts;
      const auto add = [&](std::int32_t owner, std::int32_t places) {
        parts.push_back({owner - segment::left_of(places, ports), owner + segment::right_of(places, ports)});
      };
      std::int32_t longest = 0;
      std::int32_t sides[2] = {0, 0};
      const std::int32_t own = segment::split(length, ports, [&](const segment::Child& c) {
        add(c.offset, c.length);
        longest = std::max(longest, c.length);
        const std::int32_t on_this_side = ++sides[c.offset > 0 ? 0 : 1];
        if (c.track != on_this_side || c.length < 1) parts.push_back({0, -1});
      });
      add(0, own);
      std::sort(parts.begin(), parts.end(), [](const Interval& a, const Interval& b) { return a.first < b.first; });
      bool tiles = parts.front().first == -segment::left_of(length, ports) && parts.back().last == segment::right_of(length, ports);
      for (std::size_t i = 1; i < parts.size(); ++i) tiles = tiles && parts[i].first == parts[i - 1].last + 1;
      const std::int32_t share = (length + ports) / (ports + 1);
      const bool fits = own == share && longest <= share && sides[0] <= ports - ports / 2 && sides[1] <= ports / 2;
      if (!tiles || !fits) {
        CAPTURE(ports, length, own, longest);
        FAIL("a bad split");
      }
    }
  }
  SUCCEED();
}

TEST_CASE("a segment is finished in ceil(log_{ports+1} length) steps", "[unit]") {
  for (std::int32_t ports = 1; ports <= 10; ++ports) {
    std::vector<std::uint32_t> steps(6001, 0);
    for (std::int32_t length = 2; length <= 6000; ++length) {
      std::uint32_t most = 0;
      const auto after = [&](std::int32_t part) { most = std::max(most, steps[static_cast<std::size_t>(part)]); };
      after(segment::split(length, ports, [&](const segment::Child& c) { after(c.length); }));
      steps[static_cast<std::size_t>(length)] = most + 1;
      if (most + 1 != ceil_log(static_cast<std::uint64_t>(ports) + 1, static_cast<std::uint64_t>(length))) {
        CAPTURE(ports, length, most + 1);
        FAIL("not in the least number of steps");
      }
    }
  }
  SUCCEED();
}

TEST_CASE("an owner that keeps its own place alone gives all others away", "[unit]") {
  for (std::int32_t length = 1; length <= 300; ++length) {
    std::int32_t given = 0;
    segment::share_out(length, 1, 6, [&](const segment::Child& c) { given += c.length; });
    CHECK(given == length - 1);
  }
}

}  // namespace torus
