/// 2k arc-disjoint spanning trees of a k-dimensional torus, in closed form. One table serves every root: the trees of a root are those of
/// node 0, moved.
///   planar rule  2-D; height D + 2 for n x n (D = 2 floor(n/2)), D + 2 .. D + 4 for similar sides; not for every shape.
///   product      of smaller tori and rings: any dimensions, any sides >= 2; height at most the sum of the sides plus k.
/// Source   this project; the planar rule is checked before it is used.

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/common/canonical_form.hpp"
#include "algorithms/common/integers.hpp"
#include "algorithms/common/shapes.hpp"
#include "algorithms/trees/arc_trees.hpp"

namespace torus {
namespace closed_form {
namespace {

/// An arc's direction: 2 * axis for +, 2 * axis + 1 for -.
using Direction = std::uint8_t;
constexpr Direction reverse(Direction d) noexcept { return d ^ 1U; }

/// A family of 2k trees rooted at node 0 of a torus with the given sides (row-major).
///
/// A tree is given by its entries: the direction of the arc by which it enters each node (parent = node minus direction). The trees are
/// arc-disjoint if the 2k entries of every node differ.
class Family {
 public:
  /// The lower of the forms that are valid. Sides >= 2; no side: no tree, one node.
  static Family of(std::span<const std::int32_t> sides);
  /// None if the planar rule does not give arc-disjoint spanning trees of this shape.
  static std::optional<Family> planar(std::int32_t rows, std::int32_t columns);

  /// The channels of a torus whose dimensions are the family's axes, and others of one node each.
  ArcTrees table(const Topology& topology, std::span<const Dimension> axes) const;

 private:
  static constexpr Direction root_entry = 0xff;

  Family(std::vector<std::int32_t> sides, std::uint32_t trees);
  static Family ring(std::int32_t n);
  /// The family of one more ring: entries of `this` are copied, two trees are added.
  Family times_ring(std::int32_t n) const;
  /// Finds the height. False if the trees are not arc-disjoint or one does not reach every node.
  bool measure();
  /// Arcs from the root, by node and tree. Empty if some tree does not span.
  std::vector<std::uint32_t> depths() const;
  /// The node one arc on from another.
  std::uint32_t step(std::uint32_t node, Direction d) const noexcept;
  Direction entry(std::uint32_t node, std::uint32_t tree) const noexcept { return entries_[std::size_t{node} * trees_ + tree]; }
  Direction& entry_at(std::uint32_t node, std::uint32_t tree) noexcept { return entries_[std::size_t{node} * trees_ + tree]; }

  std::vector<std::int32_t> sides_;
  std::vector<std::uint32_t> strides_;
  std::uint32_t nodes_ = 1;
  std::uint32_t trees_ = 0;
  std::uint32_t height_ = 0;
  std::vector<Direction> entries_;  // by node, tree
};

Family::Family(std::vector<std::int32_t> sides, std::uint32_t trees) : sides_{std::move(sides)}, strides_(sides_.size()), trees_{trees} {
  for (std::size_t d = sides_.size(); d-- > 0;) {
    strides_[d] = nodes_;
    nodes_ *= static_cast<std::uint32_t>(sides_[d]);
  }
  entries_.assign(std::size_t{nodes_} * trees_, root_entry);
}

Family Family::ring(std::int32_t n) {
  Family family({n}, 2);
  for (std::uint32_t x = 1; x < family.nodes_; ++x) {
    family.entry_at(x, 0) = 0;
    family.entry_at(x, 1) = 1;
  }
  return family;
}

Family Family::times_ring(std::int32_t n) const {
  std::vector<std::int32_t> sides = sides_;
  sides.push_back(n);
  const std::uint32_t old = trees_, up = trees_, down = trees_ + 1;
  Family family(std::move(sides), trees_ + 2);
  const auto plus = static_cast<Direction>(trees_), minus = static_cast<Direction>(trees_ + 1);  // of the new axis, number trees_/2

  std::vector<std::uint32_t> first(old);  // the child of the root in each old tree
  for (std::uint32_t r = 0; r < old; ++r) {
    for (Direction d = 0; d < old; ++d) {
      if (entry(step(0, d), r) == d) first[r] = step(0, d);
    }
  }
  for (std::uint32_t g = 0; g < nodes_; ++g) {
    for (std::uint32_t z = 0; z < static_cast<std::uint32_t>(n); ++z) {
      if (g == 0 && z == 0) continue;
      const std::uint32_t node = g * static_cast<std::uint32_t>(n) + z;
      if (g == 0 || z == 0) {
        for (std::uint32_t r = 0; r < old; ++r) family.entry_at(node, r) = g == 0 ? reverse(entry(first[r], r)) : entry(g, r);
        family.entry_at(node, up) = plus;
        family.entry_at(node, down) = minus;
        continue;
      }
      family.entry_at(node, up) = entry(g, 0);
      family.entry_at(node, down) = entry(g, 1);
      family.entry_at(node, 0) = plus;
      family.entry_at(node, 1) = minus;
      for (std::uint32_t r = 2; r < old; ++r) family.entry_at(node, r) = entry(g, r);
      for (std::uint32_t r = 2; r < old; ++r) {
        if (g == first[r]) std::swap(family.entry_at(node, r), family.entry_at(node, r % 2));
      }
    }
  }
  return family;
}

Family Family::of(std::span<const std::int32_t> sides) {
  if (sides.empty()) return Family({}, 0);
  Family best = ring(sides[0]);
  for (std::size_t axis = 1; axis < sides.size(); ++axis) best = best.times_ring(sides[axis]);
  best.measure();
  if (sides.size() == 1) return best;
  // A product over the closed form is lower as a rule, but with sides of 2 it need not be valid.
  std::optional<Family> closed = planar(sides[0], sides[1]);
  if (!closed) return best;
  for (std::size_t axis = 2; axis < sides.size(); ++axis) closed = closed->times_ring(sides[axis]);
  if (sides.size() > 2 && !closed->measure()) return best;
  if (closed->height_ > best.height_) return best;
  return std::move(*closed);
}

std::uint32_t Family::step(std::uint32_t node, Direction d) const noexcept {
  const std::uint32_t stride = strides_[d / 2];
  const auto side = static_cast<std::uint32_t>(sides_[d / 2]);
  const std::uint32_t at = node / stride % side;
  const std::uint32_t to = d % 2 == 0 ? (at + 1 == side ? 0 : at + 1) : (at == 0 ? side - 1 : at - 1);
  return node - at * stride + to * stride;
}

std::vector<std::uint32_t> Family::depths() const {
  constexpr std::uint32_t unknown = 0xffffffff;
  std::vector<std::uint32_t> depths(entries_.size(), unknown);
  std::vector<std::uint32_t> way;
  for (std::uint32_t r = 0; r < trees_; ++r) {
    depths[r] = 0;
    for (std::uint32_t node = 0; node < nodes_; ++node) {
      way.clear();
      std::uint32_t at = node;
      while (depths[std::size_t{at} * trees_ + r] == unknown) {
        way.push_back(at);
        if (way.size() > nodes_) return {};  // a cycle
        at = step(at, reverse(entry(at, r)));
      }
      std::uint32_t depth = depths[std::size_t{at} * trees_ + r];
      while (!way.empty()) {
        depths[std::size_t{way.back()} * trees_ + r] = ++depth;
        way.pop_back();
      }
    }
  }
  return depths;
}

bool Family::measure() {
  for (std::uint32_t node = 1; node < nodes_; ++node) {
    std::uint32_t seen = 0;
    for (std::uint32_t r = 0; r < trees_; ++r) {
      if (entry(node, r) >= trees_ || (seen >> entry(node, r) & 1U) != 0) return false;
      seen |= 1U << entry(node, r);
    }
  }
  const std::vector<std::uint32_t> all = depths();
  if (all.empty()) return false;
  height_ = *std::max_element(all.begin(), all.end());
  return true;
}

ArcTrees Family::table(const Topology& topology, std::span<const Dimension> axes) const {
  const auto place_of = [&](std::uint32_t node) {
    std::size_t place = 0;
    for (std::size_t d = 0; d < sides_.size(); ++d)
      place += std::size_t{node / strides_[d] % static_cast<std::uint32_t>(sides_[d])} * topology.stride(axes[d]);
    return place;
  };
  const auto slots = static_cast<std::size_t>(topology.channel_slots());
  std::vector<std::uint8_t> tree_of_channel(nodes_ * slots, ArcTrees::no_tree);
  for (std::uint32_t node = 1; node < nodes_; ++node) {
    for (std::uint32_t r = 0; r < trees_; ++r) {
      const Direction d = entry(node, r);
      const std::int32_t slot = topology.slot(axes[d / 2], d % 2 == 0 ? +1 : -1);
      tree_of_channel[place_of(step(node, reverse(d))) * slots + static_cast<std::size_t>(slot)] = static_cast<std::uint8_t>(r);
    }
  }
  return ArcTrees(topology, ArcTrees::Roots::all, 0, trees_, std::move(tree_of_channel));
}

// The planar rule.

// Compass directions of the closed form: + and - along dimension 0 are E and W, along dimension 1 N and S; a quarter turn adds 1.
enum Compass : std::uint8_t { E, N, W, S };
using Roles = std::array<std::uint8_t, 4>;

constexpr Direction direction_of(std::uint8_t compass) noexcept { return static_cast<Direction>(2 * (compass % 2) + compass / 2); }

/// A displacement turned into the frame of its quadrant, whose natural trees all look the same.
struct Framed {
  std::int32_t quadrant, x, y, n_x, n_y;
};

Framed frame_of(std::int32_t x, std::int32_t y, std::int32_t rows, std::int32_t columns) noexcept {
  std::int32_t quadrant = 0;
  if (rows % 2 == 0 && x == rows / 2) {
    quadrant = y >= 0 ? 0 : 2;
    if (quadrant == 2) x = -rows / 2;
  } else if (columns % 2 == 0 && y == columns / 2) {
    quadrant = x <= 0 ? 1 : 3;
    if (quadrant == 3) y = -columns / 2;
  } else if (x >= 1 && y >= 0) {
    quadrant = 0;
  } else if (x <= 0 && y >= 1) {
    quadrant = 1;
  } else if (x <= -1 && y <= 0) {
    quadrant = 2;
  } else {
    quadrant = 3;
  }
  switch (quadrant) {
    case 0: return {0, x, y, rows, columns};
    case 1: return {1, y, -x, columns, rows};
    case 2: return {2, -x, -y, rows, columns};
    default: return {3, -y, x, columns, rows};
  }
}

/// Sides 5 and 6 are too short for the rule; found by search.
std::optional<Roles> small_table(const Framed& f) noexcept {
  struct Row {
    std::int32_t n, x, y;
    Roles roles;
  };
  static constexpr std::array<Row, 10> rows{{{5, 1, 1, {2, 0, 1, 3}},
                                             {5, 1, 2, {1, 0, 2, 3}},
                                             {5, 2, 1, {1, 3, 2, 0}},
                                             {5, 2, 2, {3, 0, 1, 2}},
                                             {6, 1, 1, {1, 0, 2, 3}},
                                             {6, 1, 2, {1, 0, 2, 3}},
                                             {6, 2, 1, {3, 2, 1, 0}},
                                             {6, 2, 2, {2, 3, 1, 0}},
                                             {6, 3, 1, {1, 2, 3, 0}},
                                             {6, 3, 2, {1, 2, 3, 0}}}};
  if (f.n_x != f.n_y) return std::nullopt;
  for (const Row& row : rows) {
    if (row.n == f.n_x && row.x == f.x && row.y == f.y) return row.roles;
  }
  return std::nullopt;
}

/// Entry directions of the four roles in the frame. Columns of a quadrant alternate between trees 0 and 3, rows between 1 and 2: only
/// these advance; the other two enter from the next column or row, two hops later.
Roles roles_of(const Framed& f) noexcept {
  if (const std::optional<Roles> found = small_table(f)) return *found;
  const std::int32_t end_column = f.n_x / 2, end_row = (f.n_y - 1) / 2;
  const bool even_column = (f.x - end_column) % 2 == 0, even_row = (f.y - end_row) % 2 == 0;
  if (f.y == 0) return {E, S, W, N};
  if (f.x == end_column) return even_row ? Roles{N, E, W, S} : Roles{N, S, W, E};
  if (f.n_y % 2 == 1 && f.y == end_row) return even_column ? Roles{N, E, W, S} : Roles{W, E, N, S};
  const bool column_advances = even_column || f.x == 1, row_advances = even_row || f.y == 1;
  return {static_cast<std::uint8_t>(column_advances ? N : W), static_cast<std::uint8_t>(row_advances ? E : S),
          static_cast<std::uint8_t>(row_advances ? S : E), static_cast<std::uint8_t>(column_advances ? W : N)};
}

std::optional<Family> Family::planar(std::int32_t rows, std::int32_t columns) {
  Family family({rows, columns}, 4);
  for (std::uint32_t node = 1; node < family.nodes_; ++node) {
    const std::int32_t x = centred(static_cast<std::int32_t>(node) / columns, rows),
                       y = centred(static_cast<std::int32_t>(node) % columns, columns);
    if (2 * x == rows && 2 * y == columns) {  // the antipode of even sides
      constexpr Roles antipode{N, W, S, E};
      for (std::uint32_t r = 0; r < 4; ++r) family.entry_at(node, r) = direction_of(antipode[r]);
      continue;
    }
    const Framed framed = frame_of(x, y, rows, columns);
    const Roles roles = roles_of(framed);
    for (std::uint32_t r = 0; r < 4; ++r) {
      const auto role = static_cast<std::size_t>(modulo(static_cast<std::int32_t>(r) - framed.quadrant, 4));
      family.entry_at(node, r) = direction_of(static_cast<std::uint8_t>((roles[role] + framed.quadrant) % 4));
    }
  }
  if (!family.measure()) return std::nullopt;
  return family;
}

}  // namespace
}  // namespace closed_form

ArcTrees closed_form_trees(const Machine& machine) {
  const Topology& topology = machine.topology;
  std::vector<Dimension> axes = canonical_dimensions(machine);
  std::reverse(axes.begin(), axes.end());  // trees over the shorter rings first are lower
  std::vector<std::int32_t> sides;
  for (const Dimension d : axes) sides.push_back(topology.extent(d));
  return closed_form::Family::of(sides).table(topology, axes);
}

std::optional<ArcTrees> planar_rule_trees(const Topology& topology) {
  const auto family = closed_form::Family::planar(topology.extent(0), topology.extent(1));
  return family ? std::optional(family->table(topology, std::array<Dimension, 2>{0, 1})) : std::nullopt;
}

std::uint32_t closed_form_shares(const Topology& topology) {
  return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(2 * linked_dimensions(topology).size()));
}

std::optional<Refusal> too_many_dimensions(std::string_view algorithm, const Topology& topology) {
  constexpr std::size_t most_axes = 8;
  const std::vector<Dimension> axes = linked_dimensions(topology);
  if (axes.size() <= most_axes) return std::nullopt;
  std::vector<DimensionShape> first;
  for (std::size_t i = 0; i < most_axes; ++i) first.push_back(topology.shape()[static_cast<std::size_t>(axes[i])]);
  return Refusal{Refusal::About::shape, topology.text(),
                 std::string(algorithm) + " takes at most " + std::to_string(most_axes) + " dimensions of more than one node",
                 Topology(std::move(first)).text()};
}

// A byte a node and tree for the entry of each of two forms, 4 for the depth; then a byte for the entry, one for the channel, and the
// queue.
Bytes closed_form_bytes(const Topology& topology) { return Bytes{7} * topology.nodes() * closed_form_shares(topology); }

}  // namespace torus
