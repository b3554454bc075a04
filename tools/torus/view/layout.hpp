/// Where the nodes of a machine stand in a figure, and the lines of routes between them: what run.js does in the page, for `--svg`.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <torus/route.hpp>
#include <torus/topology.hpp>

namespace torus::command {

/// Calls f(from, dimension, hop, to) for each channel of any trace's path, until it leaves the machine.
template <class F>
void each_hop(const Topology& topology, NodeId from, std::span<const Leg> path, F&& f) {
  for (const Leg& leg : path) {
    const std::int32_t n = topology.extent(leg.dimension);
    const bool complete = topology.wiring(leg.dimension) == Wiring::complete;
    if (leg.hops == 0 || n == 1 || (complete && leg.hops % n == 0)) continue;
    const std::int32_t hop = complete ? (leg.hops % n + n) % n : leg.hops > 0 ? 1 : -1;
    const std::int64_t count = complete ? 1 : leg.hops > 0 ? leg.hops : -std::int64_t{leg.hops};
    for (std::int64_t i = 0; i < count; ++i) {
      const auto to = topology.neighbour(from, leg.dimension, hop);
      if (!to) return;
      f(from, leg.dimension, hop, *to);
      from = *to;
    }
  }
}

struct Point {
  double x = 0, y = 0;
};

/// Places in cells. The last dimension runs to the right and the one before it downwards; the others make a matrix of such grids. A machine
/// of one dimension is a row, folded at 64 nodes.
class ViewLayout {
 public:
  explicit ViewLayout(const Topology& topology);

  Point at(NodeId node) const { return {static_cast<double>(x_[node]), static_cast<double>(y_[node])}; }
  int columns() const noexcept { return columns_; }
  int rows() const noexcept { return rows_; }
  int across() const noexcept { return across_; }
  int down() const noexcept { return down_; }  ///< -1: none

  /// The lines of a route. A hop over the border ends a line outside, and the next begins on the other side. Lines keep to the right of
  /// their direction, so that the two directions of a link stay apart.
  std::vector<std::vector<Point>> route(NodeId source, std::span<const Leg> path) const;

 private:
  const Topology& topology_;
  int across_ = 0, down_ = -1, columns_ = 1, rows_ = 1;
  std::vector<int> x_, y_;
};

}  // namespace torus::command
