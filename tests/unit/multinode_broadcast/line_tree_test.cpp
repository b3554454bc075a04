#include "algorithms/multinode_broadcast/line_tree.hpp"

#include <torus/catalogue.hpp>

#include "algorithms/common/integers.hpp"
#include "tests/support/catch.hpp"

using namespace torus;
using namespace torus::multinode_broadcast;

namespace {

void check(const LineTree& tree, std::int32_t position, std::int32_t level, std::int32_t parent, std::int32_t slot) {
  CAPTURE(position);
  CHECK(tree.at(position).level == level);
  CHECK(tree.at(position).parent == parent);
  CHECK(tree.at(position).slot == slot);
}

}  // namespace

TEST_CASE("the centred representative lies in a window of n around 0", "[unit]") {
  CHECK(centred(3, 4) == -1);
  CHECK(centred(2, 4) == 2);
  CHECK(centred(-2, 4) == 2);
  CHECK(centred(3, 5) == -2);
  CHECK(centred(12, 1) == 0);
}

TEST_CASE("the quinary tree over a window hands over as the reference vectors say", "[unit]") {
  const LineTree seven = LineTree::window(5, 7);
  CHECK(seven.levels() == 2);
  check(seven, -3, 1, 0, -1);
  check(seven, -2, 0, 0, -2);
  check(seven, -1, 0, 0, -1);
  check(seven, 1, 0, 0, 1);
  check(seven, 2, 0, 0, 2);
  check(seven, 3, 1, 0, 1);
  const LineTree ten = LineTree::window(5, 10);
  check(ten, -4, 1, 0, -2);
  check(ten, -3, 1, 0, -1);
  check(ten, 3, 1, 0, 1);
  check(ten, 4, 0, 3, 1);
  check(ten, 5, 1, 0, 2);
}

TEST_CASE("the ternary trees over a window and over a line hand over as the reference vectors say", "[unit]") {
  const LineTree four = LineTree::window(3, 4);
  check(four, -1, 0, 0, -1);
  check(four, 1, 0, 0, 1);
  check(four, 2, 1, 0, 1);
  const LineTree six = LineTree::line(3, 6);
  CHECK(six.root() == 2);
  check(six, 0, 1, 2, -1);
  check(six, 1, 0, 2, -1);
  check(six, 3, 0, 2, 1);
  check(six, 4, 1, 2, 1);
  check(six, 5, 0, 4, 1);
}

TEST_CASE("the longest segments of each level are those of the reference table", "[unit]") {
  using Sizes = std::vector<std::int32_t>;
  const auto sizes = [](std::int32_t n) { return LineTree::window(5, n).level_sizes(); };
  for (const std::int32_t n : {2, 3, 4, 5}) CHECK(sizes(n) == Sizes{1});
  for (const std::int32_t n : {6, 7, 8, 9}) CHECK(sizes(n) == Sizes{1, 1});
  for (const std::int32_t n : {10, 11, 12, 13}) CHECK(sizes(n) == Sizes{1, 2});
  for (const std::int32_t n : {14, 17}) CHECK(sizes(n) == Sizes{1, 3});
  for (const std::int32_t n : {18, 21}) CHECK(sizes(n) == Sizes{1, 4});
  for (const std::int32_t n : {22, 25}) CHECK(sizes(n) == Sizes{1, 5});
  CHECK(sizes(30) == Sizes{1, 5, 2});
  CHECK(sizes(125) == Sizes{1, 5, 25});  // (5^3 - 1) / 4 in all: the paper's Lemma 1
}

TEST_CASE("a gather over the tree brings every position to the root in the least number of levels", "[unit]") {
  for (const std::int32_t base : {2, 3, 5, 7, 9}) {
    for (std::int32_t n = 1; n <= 130; ++n) {
      CAPTURE(base, n);
      const std::vector<LineTree> trees =
          base == 2 ? std::vector{LineTree::halving(n)} : std::vector{LineTree::window(base, n), LineTree::line(base, n)};
      for (const LineTree& tree : trees) {
        CHECK(tree.levels() == static_cast<std::int32_t>(ceil_log(static_cast<std::uint64_t>(base), static_cast<std::uint64_t>(n))));
        REQUIRE(tree.positions() == n);
        std::int32_t children = 0;
        for (std::int32_t p = tree.low(); p <= tree.high(); ++p) {
          const LineTree::Vertex& v = tree.at(p);
          if (p == tree.root()) {
            CHECK(v.level == tree.levels());
          } else {
            REQUIRE(v.level < tree.at(v.parent).level);  // so the way up ends at the root
            REQUIRE((v.low <= p && p <= v.high));
            REQUIRE((v.parent < v.low || v.parent > v.high));
            REQUIRE((v.slot > 0) == (p > v.parent));
          }
          for (std::int32_t level = 0; level < tree.levels(); ++level) {
            tree.for_children(p, level, [&](std::int32_t child, std::int32_t slot) {
              ++children;
              CHECK(tree.at(child).parent == p);
              CHECK(tree.at(child).level == level);
              CHECK(tree.at(child).slot == slot);
            });
          }
        }
        CHECK(children == n - 1);
      }
    }
  }
}
