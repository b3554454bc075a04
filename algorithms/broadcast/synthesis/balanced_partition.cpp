#include "algorithms/broadcast/synthesis/balanced_partition.hpp"

#include <algorithm>

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

}  // namespace torus::broadcast
