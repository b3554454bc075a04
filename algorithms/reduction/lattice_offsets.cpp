#include "algorithms/reduction/lattice_offsets.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <string_view>

#include "algorithms/common/linked_dimensions.hpp"

namespace torus::reduction {
namespace {

/// The shorter way round each ring.
Offset shortest(const Topology& topology, Offset offset) {
  for (std::size_t d = 0; d < offset.size(); ++d) {
    const std::int32_t n = topology.extent(static_cast<Dimension>(d)), h = modulo(offset[d], n);
    offset[d] = 2 * h > n || (2 * h == n && offset[d] < 0) ? h - n : h;
  }
  return offset;
}

struct Known {
  std::string_view shape;
  std::array<std::array<std::int32_t, 4>, 4> vectors;  // one a step, turned; zeros: no step
};
constexpr Known known[] = {
    {"8x8", {{{1, 0}, {1, 2}, {-2, -2}}}},
    {"9x9", {{{1, 0}, {1, 2}, {-2, -2}}}},
    {"15x15", {{{1, 0}, {1, 2}, {1, 2}, {3, -4}}}},
    {"16x16", {{{1, 0}, {1, 2}, {0, -3}, {7, 3}}}},
    {"8x8x8", {{{1, 0, 0}, {-1, -2, 0}, {-3, 1, 0}, {-2, -4, 3}}}},
};

/// Of unequal sides: two vectors a step, and their opposites. From a longer search of the same kind.
struct KnownPairs {
  std::string_view shape;
  std::array<std::array<std::array<std::int32_t, 2>, 2>, 4> vectors;
};
constexpr KnownPairs known_pairs[] = {
    {"12x40", {{{{{1, 0}, {0, 1}}}, {{{4, 2}, {2, 1}}}, {{{1, -2}, {2, -4}}}, {{{1, -17}, {6, 8}}}}}},
};

}  // namespace

void add_offset(const Topology& topology, std::vector<Offset>& step, const Offset& offset) {
  const NodeId to = topology.rank(offset);
  const auto same = [&](const Offset& o) { return topology.rank(o) == to; };
  if (to != 0 && std::none_of(step.begin(), step.end(), same)) step.push_back(shortest(topology, offset));
}

std::vector<Offset> turned_offsets(const Topology& topology, Offset offset) {
  const std::vector<Dimension> linked = linked_dimensions(topology);
  std::vector<Offset> step;
  for (std::size_t turn = 0; turn < 2 * linked.size(); ++turn) {
    add_offset(topology, step, offset);
    Offset next = offset;
    for (std::size_t i = 0; i < linked.size(); ++i) {
      const std::size_t from = (i + linked.size() - 1) % linked.size();
      next[static_cast<std::size_t>(linked[i])] = (i == 0 ? -1 : 1) * offset[static_cast<std::size_t>(linked[from])];
    }
    offset = next;
  }
  return step;
}

std::optional<Offsets> known_offsets(const Topology& topology) {
  const std::vector<Dimension> linked = linked_dimensions(topology);
  if (linked.size() != static_cast<std::size_t>(topology.dimensions())) return std::nullopt;
  Offsets offsets;
  const std::string shape = topology.text();
  for (const KnownPairs& entry : known_pairs) {
    if (entry.shape != shape) continue;
    for (const auto& step : entry.vectors) {
      offsets.emplace_back();
      for (const auto& [x, y] : step) {
        add_offset(topology, offsets.back(), {x, y});
        add_offset(topology, offsets.back(), {-x, -y});
      }
    }
    return offsets;
  }
  if (!is_square_torus(topology)) return std::nullopt;
  for (const Known& entry : known) {
    if (entry.shape != shape) continue;
    for (const auto& vector : entry.vectors) {
      Offset offset = Offset(static_cast<std::size_t>(topology.dimensions()), 0);
      for (std::size_t d = 0; d < offset.size(); ++d) offset[d] = vector[d];
      if (topology.rank(offset) != 0) offsets.push_back(turned_offsets(topology, offset));
    }
    return offsets;
  }
  // A perfect code: every displacement once.
  const std::int32_t n = topology.extent(0);
  if (linked.size() != 2) return std::nullopt;
  std::int32_t power = 1;
  for (; power < n; power *= 5) {
    offsets.push_back(turned_offsets(topology, {power, 0}));
    offsets.push_back(turned_offsets(topology, {power, 2 * power}));
  }
  return power == n ? std::optional(offsets) : std::nullopt;
}

}  // namespace torus::reduction
