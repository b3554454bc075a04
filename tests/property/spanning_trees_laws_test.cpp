#include <array>
#include <string>

#include "algorithms/common/spanning_trees.hpp"
#include "tests/support/catch.hpp"

using namespace torus;

namespace {

SpanningTrees trees_of(std::vector<std::int32_t> sides) { return SpanningTrees::of(sides); }

/// The entries of trees 0..3 as compass letters.
std::string compass(const SpanningTrees& trees, std::int32_t x, std::int32_t y) {
  constexpr std::array<char, 4> letter{'E', 'W', 'N', 'S'};  // + and - of axis 0, + and - of axis 1
  std::string text;
  for (std::uint32_t r = 0; r < 4; ++r) text += letter[trees.entry(static_cast<std::uint32_t>(x * trees.sides()[1] + y), r)];
  return text;
}

/// By walking from the root along the arcs, with no use of depths(): every tree reaches every node, and no arc is in two trees.
bool disjoint_and_spanning_by_walking(const SpanningTrees& trees) {
  std::vector<std::uint8_t> arc_used(std::size_t{trees.nodes()} * trees.trees(), 0);
  for (std::uint32_t r = 0; r < trees.trees(); ++r) {
    std::vector<std::uint8_t> seen(trees.nodes(), 0);
    std::vector<std::uint32_t> open{0};
    seen[0] = 1;
    while (!open.empty()) {
      const std::uint32_t at = open.back();
      open.pop_back();
      for (Direction d = 0; d < trees.trees(); ++d) {
        const std::uint32_t to = trees.step(at, d);
        if (to == 0 || trees.entry(to, r) != d) continue;
        if (seen[to]++ != 0 || arc_used[std::size_t{at} * trees.trees() + d]++ != 0) return false;
        open.push_back(to);
      }
    }
    for (const std::uint8_t s : seen) {
      if (s != 1) return false;
    }
  }
  return true;
}

}  // namespace

TEST_CASE("the closed form of 7 x 7 has the reference entries", "[property]") {
  const SpanningTrees trees = *SpanningTrees::closed_form(7, 7);
  CHECK(compass(trees, 1, 1) == "NESW");
  CHECK(compass(trees, 2, 1) == "WESN");
  CHECK(compass(trees, 3, 1) == "NEWS");
  CHECK(compass(trees, 1, 2) == "NSEW");
  CHECK(compass(trees, 2, 2) == "WSEN");
  CHECK(compass(trees, 3, 2) == "NSWE");
  CHECK(compass(trees, 1, 3) == "NEWS");
  CHECK(compass(trees, 2, 3) == "WENS");
  CHECK(compass(trees, 3, 3) == "NEWS");
  CHECK(compass(trees, 0, 3) == "WNES");
  CHECK(compass(trees, 4, 2) == "ESNW");
}

TEST_CASE("the trees are arc-disjoint and spanning for every n1 x n2 from 2 to 32", "[property]") {
  for (std::int32_t rows = 2; rows <= 32; ++rows) {
    for (std::int32_t columns = 2; columns <= 32; ++columns) {
      CAPTURE(rows, columns);
      const SpanningTrees trees = trees_of({rows, columns});
      REQUIRE(trees.trees() == 4);
      CHECK(disjoint_and_spanning_by_walking(trees));
      CHECK(trees.height() > 0);  // else they have not passed the check that comes before use
      CHECK(trees.height() <= static_cast<std::uint32_t>(rows + columns + 2));
    }
  }
}

TEST_CASE("on n x n the trees are D + 2 high, D + 1 for n = 2 and 3", "[property]") {
  for (std::int32_t n = 2; n <= 40; ++n) {
    CAPTURE(n);
    CHECK(trees_of({n, n}).height() == static_cast<std::uint32_t>(2 * (n / 2) + (n <= 3 ? 1 : 2)));
  }
}

TEST_CASE("the closed form is valid where both sides are 3 or at least 6", "[property]") {
  for (std::int32_t rows = 3; rows <= 24; ++rows) {
    for (std::int32_t columns = 3; columns <= 24; ++columns) {
      const bool fit = (rows == 3 || rows >= 6) && (columns == 3 || columns >= 6);
      if (!fit) continue;
      CAPTURE(rows, columns);
      CHECK(SpanningTrees::closed_form(rows, columns).has_value());
    }
  }
}

TEST_CASE("the product form gives arc-disjoint spanning trees in any number of dimensions", "[property]") {
  const std::vector<std::vector<std::int32_t>> shapes{{2},          {3},          {9},          {2, 2, 2},         {2, 3, 5},
                                                      {4, 4, 4},    {5, 5, 5},    {3, 7, 2},    {6, 3, 9},         {7, 7, 7},
                                                      {2, 2, 2, 2}, {3, 3, 3, 3}, {2, 4, 3, 5}, {2, 2, 2, 2, 2, 2}};
  for (const std::vector<std::int32_t>& sides : shapes) {
    CAPTURE(sides);
    const SpanningTrees trees = trees_of(sides);
    CHECK(trees.trees() == 2 * sides.size());
    CHECK(disjoint_and_spanning_by_walking(trees));
    std::uint32_t bound = static_cast<std::uint32_t>(sides.size());
    for (const std::int32_t n : sides) bound += static_cast<std::uint32_t>(n);
    CHECK(trees.height() <= bound);
  }
}

TEST_CASE("the trees are arc-disjoint and spanning for every n1 x n2 x n3 from 2 to 6 and every 2/3 mix of four and five", "[property]") {
  for (std::int32_t code = 0; code < 125; ++code) {
    const std::vector<std::int32_t> sides{2 + code / 25, 2 + code / 5 % 5, 2 + code % 5};
    CAPTURE(sides);
    CHECK(disjoint_and_spanning_by_walking(trees_of(sides)));
  }
  for (const std::size_t k : {std::size_t{4}, std::size_t{5}}) {
    for (std::uint32_t mix = 0; mix < (1U << k); ++mix) {
      std::vector<std::int32_t> sides;
      for (std::size_t d = 0; d < k; ++d) sides.push_back((mix >> d & 1U) != 0 ? 3 : 2);
      CAPTURE(sides);
      CHECK(disjoint_and_spanning_by_walking(trees_of(sides)));
    }
  }
}

TEST_CASE("the heights in three and four dimensions are the reference ones", "[property]") {
  CHECK(trees_of({4, 4, 4}).height() <= 10);
  CHECK(trees_of({5, 5, 5}).height() <= 13);
  CHECK(trees_of({7, 7, 7}).height() <= 19);
  CHECK(trees_of({3, 3, 3, 3}).height() <= 9);
}

TEST_CASE("no dimension, no tree", "[property]") {
  CHECK(trees_of({}).trees() == 0);
  CHECK(trees_of({}).nodes() == 1);
  CHECK(trees_of({}).height() == 0);
}
