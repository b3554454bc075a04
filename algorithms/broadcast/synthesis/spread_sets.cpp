#include "algorithms/broadcast/synthesis/spread_sets.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "algorithms/common/shapes.hpp"

namespace torus::broadcast {
namespace {

struct Point {
  Coordinates at;
  NodeId node;
};

using Points = std::span<Point>;

auto along(std::size_t d) {
  return [d](const Point& a, const Point& b) { return a.at[d] != b.at[d] ? a.at[d] < b.at[d] : a.node < b.node; };
}

NodeId nearest_to_median(Points points, std::size_t dimensions) {
  Coordinates median;
  const auto middle = points.begin() + static_cast<std::ptrdiff_t>(points.size() / 2);
  for (std::size_t d = 0; d < dimensions; ++d) {
    std::nth_element(points.begin(), middle, points.end(), along(d));
    median.push_back(middle->at[d]);
  }
  const auto distance = [&](const Point& p) {
    std::int32_t sum = 0;
    for (std::size_t d = 0; d < dimensions; ++d) sum += std::abs(p.at[d] - median[d]);
    return sum;
  };
  return std::min_element(points.begin(), points.end(),
                          [&](const Point& a, const Point& b) {
                            return std::pair{distance(a), a.node} < std::pair{distance(b), b.node};
                          })
      ->node;
}

void cut(Points points, std::size_t parts, std::size_t dimensions, std::vector<NodeId>& chosen) {
  if (parts == 1) {
    chosen.push_back(nearest_to_median(points, dimensions));
    return;
  }
  std::size_t longest = 0;
  std::int32_t length = -1;
  for (std::size_t d = 0; d < dimensions; ++d) {
    const auto [low, high] =
        std::minmax_element(points.begin(), points.end(), [d](const Point& a, const Point& b) { return a.at[d] < b.at[d]; });
    if (high->at[d] - low->at[d] > length) {
      length = high->at[d] - low->at[d];
      longest = d;
    }
  }
  const std::size_t left = parts / 2;
  const std::size_t size = points.size() * left / parts;
  std::nth_element(points.begin(), points.begin() + static_cast<std::ptrdiff_t>(size), points.end(), along(longest));
  cut(points.first(size), left, dimensions, chosen);
  cut(points.subspan(size), parts - left, dimensions, chosen);
}

}  // namespace

std::vector<NodeId> balanced_partition(const Topology& topology, std::span<const NodeId> nodes, std::size_t count,
                                       const Coordinates& shift) {
  std::vector<Point> points;
  for (const NodeId node : nodes) {
    Point point{topology.coordinates(node), node};
    for (std::size_t d = 0; d < shift.size(); ++d) point.at[d] = modulo(point.at[d] - shift[d], topology.extent(static_cast<Dimension>(d)));
    points.push_back(point);
  }
  std::vector<NodeId> chosen;
  cut(points, count, shift.size(), chosen);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

Coordinates random_shift(const Topology& topology, std::mt19937_64& random) {
  Coordinates shift;
  for (Dimension d = 0; d < topology.dimensions(); ++d) {
    const bool ring = topology.wiring(d) == Wiring::ring;
    shift.push_back(ring ? static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(topology.extent(d))) : 0);
  }
  return shift;
}

std::vector<NodeId> with_node(const Topology& topology, std::vector<NodeId> nodes, NodeId node) {
  if (std::binary_search(nodes.begin(), nodes.end(), node)) return nodes;
  const auto nearer = [&](NodeId a, NodeId b) { return topology.distance(a, node) < topology.distance(b, node); };
  *std::min_element(nodes.begin(), nodes.end(), nearer) = node;
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

namespace {

constexpr std::size_t most_permutations = 720;

/// Multipliers near n_i j_i / q for all assignments of distinct j_i in 1..k to the wide dimensions, each with its error.
void add_near(const Topology& topology, const std::vector<Dimension>& wide, std::int32_t q,
              std::vector<std::pair<double, Multipliers>>& scored) {
  std::vector<std::int32_t> j(wide.size());
  std::iota(j.begin(), j.end(), 1);
  std::size_t permutations = 0;
  do {
    // All nearest ones, then one of them off by 1 in either direction.
    for (std::size_t off = 0; off <= 2 * wide.size(); ++off) {
      Multipliers p(static_cast<std::size_t>(topology.dimensions()), 0);
      double error = 0;
      for (std::size_t i = 0; i < wide.size(); ++i) {
        const std::int32_t n = topology.extent(wide[i]);
        const double exact = static_cast<double>(n) * j[i] / q;
        std::int32_t nearest = static_cast<std::int32_t>(std::floor(exact + 0.5));
        if (off == 2 * i + 1) ++nearest;
        if (off == 2 * i + 2) --nearest;
        p[static_cast<std::size_t>(wide[i])] = modulo(nearest, n);
        error += std::abs(nearest - exact) / n;
      }
      scored.emplace_back(error, std::move(p));
    }
  } while (++permutations < most_permutations && std::next_permutation(j.begin(), j.end()));
}

}  // namespace

Multipliers random_multipliers(const Topology& topology, std::mt19937_64& random) {
  Multipliers p;
  for (const DimensionShape& d : topology.shape()) p.push_back(static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(d.extent)));
  return p;
}

std::vector<Multipliers> nearest_multipliers(const Topology& topology, std::int32_t ports, std::size_t count) {
  const std::vector<Dimension> wide = linked_dimensions(topology);
  const auto all_ports = static_cast<std::int32_t>(2 * wide.size());
  std::vector<std::pair<double, Multipliers>> scored;
  add_near(topology, wide, all_ports + 1, scored);
  if (ports < all_ports) add_near(topology, wide, ports + 1, scored);
  std::sort(scored.begin(), scored.end());
  std::vector<Multipliers> chosen;
  for (auto& [error, p] : scored) {
    if (chosen.size() == count) break;
    if (chosen.empty() || chosen.back() != p) chosen.push_back(std::move(p));
  }
  return chosen;
}

std::vector<Multipliers> promising_multipliers(const Topology& topology, std::int32_t ports, std::size_t count, std::mt19937_64& random) {
  std::vector<Multipliers> chosen = nearest_multipliers(topology, ports, count);
  while (chosen.size() < count) chosen.push_back(random_multipliers(topology, random));
  return chosen;
}

std::vector<NodeId> quasi_lattice(const Topology& topology, const Multipliers& multipliers, std::size_t count, NodeId centre) {
  const Coordinates origin = topology.coordinates(centre);
  std::uint64_t period = 1;
  for (const DimensionShape& d : topology.shape()) period = std::lcm(period, static_cast<std::uint64_t>(d.extent));
  std::vector<std::pair<std::uint64_t, NodeId>> by_phase;
  by_phase.reserve(topology.nodes());
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    std::uint64_t phase = 0;
    for (Dimension d = 0; d < topology.dimensions(); ++d) {
      const auto n = static_cast<std::uint64_t>(topology.extent(d));
      const auto i = static_cast<std::size_t>(d);
      const std::int32_t from_centre = modulo(topology.coordinate(node, d) - origin[i], topology.extent(d));
      const auto turns = static_cast<std::uint64_t>(multipliers[i]) * static_cast<std::uint64_t>(from_centre);
      phase += turns % n * (period / n);
    }
    by_phase.emplace_back(phase % period, node);
  }
  std::nth_element(by_phase.begin(), by_phase.begin() + static_cast<std::ptrdiff_t>(count), by_phase.end());
  std::vector<NodeId> nodes;
  for (std::size_t i = 0; i < count; ++i) nodes.push_back(by_phase[i].second);
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

}  // namespace torus::broadcast
