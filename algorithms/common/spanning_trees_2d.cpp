// The closed form of the spanning trees of a 2-D torus.
#include <array>

#include "algorithms/common/centred.hpp"
#include "algorithms/common/spanning_trees.hpp"

namespace torus {
namespace {

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

}  // namespace

std::optional<SpanningTrees> SpanningTrees::closed_form(std::int32_t rows, std::int32_t columns) {
  SpanningTrees family({rows, columns}, 4);
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

}  // namespace torus
