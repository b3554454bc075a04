#include <map>
#include <set>
#include <string>

#include "algorithms/lines/deal.hpp"
#include "tests/support/catch.hpp"

using namespace torus;
using namespace torus::lines;

namespace {

std::string text(std::int32_t n, std::int32_t h) {
  const RowClasses classes(n, h);
  std::string out;
  for (std::int32_t place = 0; place < n; ++place) out += static_cast<char>('0' + classes.class_of(place));
  return out;
}

}  // namespace

TEST_CASE("rows get their classes as the reference vectors say", "[unit]") {
  CHECK(text(7, 3) == "0120012");
  CHECK(text(9, 3) == "012012012");
  CHECK(text(5, 1) == "00000");
  CHECK(text(5, 5) == "01234");
  CHECK(text(7, 2) == "0101001");
  CHECK(text(7, 4) == "0011223");
  CHECK(text(25, 3) == "0120120120120120120120012");
}

TEST_CASE("in row 2 of 0120012 piece 0 comes from the + side and piece 1 from the - side", "[unit]") {
  const RowClasses classes(7, 3);
  CHECK(classes.taken(2, +1, 1) == RowClasses::Take{0, RowClasses::Share::whole});
  CHECK(classes.taken(2, -1, 1) == RowClasses::Take{1, RowClasses::Share::whole});
  CHECK(classes.taken(2, +1, 2) == std::nullopt);
  CHECK(classes.taken(2, -1, 2) == std::nullopt);
}

TEST_CASE("on a ring of two the halves of a piece come over the two links", "[unit]") {
  const RowClasses classes(2, 2);
  CHECK(classes.taken(0, -1, 1) == RowClasses::Take{1, RowClasses::Share::first_half});
  CHECK(classes.taken(0, +1, 1) == RowClasses::Take{1, RowClasses::Share::second_half});
}

namespace {

/// The gather brings every place every piece once, from a neighbour that has it, in its steps.
void check(const RowClasses& classes, std::int32_t n) {
  std::vector<std::set<std::pair<std::int32_t, int>>> held(static_cast<std::size_t>(n));  // (piece, half)
  for (std::int32_t piece = 0; piece < classes.classes(); ++piece) {
    for (const std::int32_t place : classes.places_of(piece)) {
      REQUIRE(classes.class_of(place) == piece);
      held[static_cast<std::size_t>(place)] = {{piece, 0}, {piece, 1}};
    }
  }
  for (Step step = 1; step <= classes.gather_steps(); ++step) {
    const auto before = held;
    bool moved = false;
    for (std::int32_t place = 0; place < n; ++place) {
      for (const std::int32_t direction : {-1, +1}) {
        const auto take = classes.taken(place, direction, static_cast<std::int32_t>(step));
        if (!take) continue;
        moved = true;
        if (classes.ways() == Ways::forward) REQUIRE(direction < 0);
        if (take->share != RowClasses::Share::whole) REQUIRE_FALSE(classes.pieces_stay_whole());
        for (const int half : {0, 1}) {
          if (take->share == (half == 0 ? RowClasses::Share::second_half : RowClasses::Share::first_half)) continue;
          REQUIRE(before[static_cast<std::size_t>(modulo(place + direction, n))].count({take->piece, half}) == 1);
          REQUIRE(held[static_cast<std::size_t>(place)].emplace(take->piece, half).second);
        }
      }
    }
    REQUIRE(moved);
  }
  for (const auto& pieces : held) REQUIRE(pieces.size() == 2 * static_cast<std::size_t>(classes.classes()));
}

}  // namespace

TEST_CASE("the gather brings every place every piece once, from a neighbour that has it, in its steps", "[unit]") {
  for (std::int32_t n = 1; n <= 40; ++n) {
    for (std::int32_t h = 1; h <= n; ++h) {
      CAPTURE(n, h);
      check(RowClasses(n, h), n);
      check(RowClasses(n, h, Ways::forward), n);
    }
  }
}

TEST_CASE("on a mesh line the gather does not wrap", "[unit]") {
  for (std::int32_t n = 1; n <= 30; ++n) {
    for (std::int32_t h = 1; h <= n; ++h) {
      for (const std::int32_t origin : {0, n / 3, n - 1}) {
        CAPTURE(n, h, origin);
        const RowClasses classes = RowClasses::on_line(n, h, origin);
        check(classes, n);
        for (std::int32_t distance = 1; distance <= n; ++distance) {  // place n - origin is the first of the line
          CHECK_FALSE(classes.taken(modulo(n - origin, n), -1, distance).has_value());
          CHECK_FALSE(classes.taken(n - 1 - origin, +1, distance).has_value());
        }
      }
    }
  }
}

TEST_CASE("gaps are those between the places of a piece, none longer than the longest window", "[unit]") {
  for (std::int32_t n = 1; n <= 60; ++n) {
    for (std::int32_t h = 1; h <= n; ++h) {
      CAPTURE(n, h);
      const RowClasses classes(n, h);
      std::map<std::pair<std::int32_t, std::int32_t>, int> expected, found;  // gaps above 1
      for (std::int32_t piece = 0; piece < h; ++piece) {
        const std::vector<std::int32_t> places = classes.places_of(piece);
        for (std::size_t i = 0; i < places.size(); ++i) {
          const std::int32_t gap = i + 1 < places.size() ? places[i + 1] - places[i] : places[0] + n - places[i];
          if (gap > 1) ++expected[{piece, gap}];
        }
      }
      classes.for_gaps([&](std::int32_t piece, std::int32_t gap) {
        REQUIRE(gap <= (n + n / h - 1) / (n / h));  // the longest window
        if (gap > 1) ++found[{piece, gap}];
      });
      REQUIRE(found == expected);
    }
  }
}
