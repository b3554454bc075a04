#include "algorithms/broadcast/synthesis/search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include <torus/error.hpp>

#include "algorithms/broadcast/axes.hpp"
#include "algorithms/common/shapes.hpp"

namespace torus::broadcast {
namespace {

using Circuits = std::vector<Circuit>;

/// The dimension of more than one node; the first where there is none.
Dimension dimension_of_line(const Topology& topology) {
  Dimension d = 0;
  while (d + 1 < topology.dimensions() && topology.extent(d) == 1) ++d;
  return d;
}

Circuit circuit(Dimension d, NodeId from, NodeId to) {
  return {from, to, {Leg{d, static_cast<std::int32_t>(to) - static_cast<std::int32_t>(from)}}};
}

std::vector<Circuits> by_halves(Dimension d, NodeId nodes, NodeId root) {
  std::vector<Circuits> steps;
  std::vector<Part> parts{whole_row(nodes, root)};
  while (parts.size() < nodes) {
    Circuits& step = steps.emplace_back();
    halve_all(parts, Target::near, [&](const Halves& halves) { step.push_back(circuit(d, halves.kept.holder, halves.given.holder)); });
  }
  return steps;
}

std::vector<Circuits> by_gaps(Dimension d, NodeId nodes, NodeId root) {
  std::vector<Circuits> steps;
  std::vector<NodeId> informed{root};  // ascending
  while (informed.size() < nodes) {
    Circuits& step = steps.emplace_back();
    std::vector<NodeId> more;
    const auto inform = [&](NodeId from, NodeId to) {
      step.push_back(circuit(d, from, to));
      more.push_back(to);
    };
    // At an end, the inner gap gets twice the nodes of the outer one, since it is closed from both sides.
    const auto inner = [](NodeId gap) { return 2 * (gap - 1) / 3; };
    if (const NodeId gap = informed.front(); gap > 0) inform(gap, gap - 1 - inner(gap));
    for (std::size_t i = 0; i < informed.size(); ++i) {
      const NodeId left = informed[i];
      more.push_back(left);
      if (i + 1 == informed.size()) {
        if (const NodeId gap = nodes - 1 - left; gap > 0) inform(left, left + 1 + inner(gap));
        break;
      }
      const NodeId right = informed[i + 1];
      const NodeId gap = right - left - 1;
      if (gap == 1) inform(left, left + 1);
      if (gap <= 1) continue;
      const NodeId third = (gap - 2) / 3;
      inform(left, left + 1 + third);
      inform(right, right - 1 - (gap - 2 - third) / 2);
    }
    informed = std::move(more);
  }
  return steps;
}

}  // namespace

bool is_line(const Topology& topology) {
  const Dimension d = dimension_of_line(topology);
  return topology.wiring(d) == Wiring::line && static_cast<NodeId>(topology.extent(d)) == topology.nodes();
}

std::vector<Circuits> line_broadcast(const Topology& topology, std::int32_t ports, NodeId root) {
  TORUS_ASSERT(is_line(topology));
  return ports == 1 ? by_halves(dimension_of_line(topology), topology.nodes(), root)
                    : by_gaps(dimension_of_line(topology), topology.nodes(), root);
}

std::optional<Refusal> too_large_to_search(std::string_view algorithm, const Topology& topology) {
  constexpr NodeId most_nodes = NodeId{1} << 20U;
  if (topology.nodes() <= most_nodes) return std::nullopt;
  return Refusal{Refusal::About::shape, topology.text(),
                 std::string(algorithm) + " searches machines of up to " + std::to_string(most_nodes) + " nodes", "1024x1024"};
}

bool anneal(std::size_t unserved_before, std::size_t unserved_after, std::mt19937_64& random) {
  constexpr double temperature = 0.35;  // unserved nodes
  constexpr std::uint64_t certain = 1U << 30U;
  if (unserved_after <= unserved_before) return true;
  const auto worse = static_cast<double>(unserved_after - unserved_before);
  return static_cast<double>(random() % certain) < std::exp(-worse / temperature) * static_cast<double>(certain);
}

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
