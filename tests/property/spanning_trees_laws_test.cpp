#include <array>
#include <string>
#include <vector>

#include "algorithms/trees/arc_trees.hpp"
#include "tests/support/catch.hpp"

using namespace torus;

namespace {

Topology torus_of(const std::vector<std::int32_t>& sides) {
  std::vector<DimensionShape> shape;
  for (const std::int32_t n : sides) shape.push_back({n, Wiring::ring});
  return Topology(shape);
}

ArcTrees trees_of(const std::vector<std::int32_t>& sides) { return closed_form_trees(Machine(torus_of(sides))); }

/// The arcs by which trees 0..3 enter a node of 7 x 7, as compass letters.
std::string compass(const Topology& topology, const WayUp& way_up, std::int32_t x, std::int32_t y) {
  constexpr std::array<char, 4> letter{'W', 'E', 'S', 'N'};  // back over - and + of axis 0, - and + of axis 1
  std::string text;
  for (std::uint32_t r = 0; r < 4; ++r) text += letter[way_up.parent(topology.rank(std::array{x, y}), r)];
  return text;
}

/// By walking from the root along the arcs, with no use of depths: every tree reaches every node, and no arc is in two trees.
bool disjoint_and_spanning_by_walking(const std::vector<std::int32_t>& sides) {
  const Topology topology = torus_of(sides);
  const ArcTrees trees = closed_form_trees(Machine(topology));
  std::vector<std::uint8_t> arc_used(std::size_t{topology.nodes()} * trees.slots(), 0);
  for (std::uint32_t r = 0; r < trees.trees(); ++r) {
    std::vector<std::uint8_t> seen(topology.nodes(), 0);
    std::vector<NodeId> open{0};
    seen[0] = 1;
    bool once = true;
    while (!open.empty()) {
      const NodeId at = open.back();
      open.pop_back();
      trees.each_child(at, r, [&](std::uint32_t slot) {
        const Leg leg = trees.leg(slot);
        const NodeId to = topology.neighbour(at, leg.dimension, leg.hops).value();
        if (seen[to]++ != 0 || arc_used[std::size_t{at} * trees.slots() + slot]++ != 0)
          once = false;
        else
          open.push_back(to);
      });
    }
    if (!once) return false;
    for (const std::uint8_t s : seen) {
      if (s != 1) return false;
    }
  }
  return true;
}

}  // namespace

TEST_CASE("the closed form of 7 x 7 has the reference entries", "[property]") {
  const Topology topology = torus_of({7, 7});
  const WayUp trees(topology, planar_rule_trees(topology).value());
  CHECK(compass(topology, trees, 1, 1) == "NESW");
  CHECK(compass(topology, trees, 2, 1) == "WESN");
  CHECK(compass(topology, trees, 3, 1) == "NEWS");
  CHECK(compass(topology, trees, 1, 2) == "NSEW");
  CHECK(compass(topology, trees, 2, 2) == "WSEN");
  CHECK(compass(topology, trees, 3, 2) == "NSWE");
  CHECK(compass(topology, trees, 1, 3) == "NEWS");
  CHECK(compass(topology, trees, 2, 3) == "WENS");
  CHECK(compass(topology, trees, 3, 3) == "NEWS");
  CHECK(compass(topology, trees, 0, 3) == "WNES");
  CHECK(compass(topology, trees, 4, 2) == "ESNW");
}

TEST_CASE("the trees are arc-disjoint and spanning for every n1 x n2 from 2 to 32", "[property]") {
  for (std::int32_t rows = 2; rows <= 32; ++rows) {
    for (std::int32_t columns = 2; columns <= 32; ++columns) {
      CAPTURE(rows, columns);
      const ArcTrees trees = trees_of({rows, columns});
      REQUIRE(trees.trees() == 4);
      CHECK(disjoint_and_spanning_by_walking({rows, columns}));
      CHECK(trees.height() > 0);
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
      CHECK(planar_rule_trees(torus_of({rows, columns})).has_value());
    }
  }
}

TEST_CASE("the product form gives arc-disjoint spanning trees in any number of dimensions", "[property]") {
  const std::vector<std::vector<std::int32_t>> shapes{{2},          {3},          {9},          {2, 2, 2},         {2, 3, 5},
                                                      {4, 4, 4},    {5, 5, 5},    {3, 7, 2},    {6, 3, 9},         {7, 7, 7},
                                                      {2, 2, 2, 2}, {3, 3, 3, 3}, {2, 4, 3, 5}, {2, 2, 2, 2, 2, 2}};
  for (const std::vector<std::int32_t>& sides : shapes) {
    CAPTURE(sides);
    const ArcTrees trees = trees_of(sides);
    CHECK(trees.trees() == 2 * sides.size());
    CHECK(disjoint_and_spanning_by_walking(sides));
    std::uint32_t bound = static_cast<std::uint32_t>(sides.size());
    for (const std::int32_t n : sides) bound += static_cast<std::uint32_t>(n);
    CHECK(trees.height() <= bound);
  }
}

TEST_CASE("the trees are arc-disjoint and spanning for every n1 x n2 x n3 from 2 to 6 and every 2/3 mix of four and five", "[property]") {
  for (std::int32_t code = 0; code < 125; ++code) {
    const std::vector<std::int32_t> sides{2 + code / 25, 2 + code / 5 % 5, 2 + code % 5};
    CAPTURE(sides);
    CHECK(disjoint_and_spanning_by_walking(sides));
  }
  for (const std::size_t k : {std::size_t{4}, std::size_t{5}}) {
    for (std::uint32_t mix = 0; mix < (1U << k); ++mix) {
      std::vector<std::int32_t> sides;
      for (std::size_t d = 0; d < k; ++d) sides.push_back((mix >> d & 1U) != 0 ? 3 : 2);
      CAPTURE(sides);
      CHECK(disjoint_and_spanning_by_walking(sides));
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
  CHECK(trees_of({1}).trees() == 0);
  CHECK(trees_of({1}).shares() == 1);
  CHECK(trees_of({1}).height() == 0);
}

TEST_CASE("the table of all roots gives every root its own arc-disjoint spanning trees", "[property]") {
  for (const std::vector<std::int32_t>& sides : {std::vector<std::int32_t>{5, 1, 4}, {2, 3}, {7}}) {
    const Topology topology = torus_of(sides);
    const ArcTrees trees = closed_form_trees(Machine(topology));
    for (NodeId root = 0; root < topology.nodes(); ++root) {
      CAPTURE(sides, root);
      std::vector<std::uint32_t> channel_used(std::size_t{topology.nodes()} * trees.slots(), 0);
      for (std::uint32_t r = 0; r < trees.trees(); ++r) {
        std::vector<std::uint32_t> entered(topology.nodes(), 0);
        for (NodeId node = 0; node < topology.nodes(); ++node) {
          trees.each_child(trees.place(topology, node, root), r, [&](std::uint32_t slot) {
            const Leg leg = trees.leg(slot);
            ++entered[topology.neighbour(node, leg.dimension, leg.hops).value()];
            ++channel_used[std::size_t{node} * trees.slots() + slot];
          });
        }
        for (NodeId node = 0; node < topology.nodes(); ++node) REQUIRE(entered[node] == (node == root ? 0 : 1));
      }
      for (const std::uint32_t used : channel_used) REQUIRE(used <= 1);
    }
  }
}
