#include "tools/torus/view_layout.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace torus::command {
namespace {

/// A curve from one node to another that is no neighbour in the grid.
void bow(std::vector<Point>& line, Point from, Point to) {
  const double dx = to.x - from.x, dy = to.y - from.y, length = std::max(std::hypot(dx, dy), 1e-9);
  const double rise = std::min(0.2 * length + 0.2, 2.0);
  const double mx = (from.x + to.x) / 2 - dy / length * rise, my = (from.y + to.y) / 2 + dx / length * rise;
  for (int i = 1; i <= 8; ++i) {
    const double t = i / 8.0, u = 1 - t;
    line.push_back({u * u * from.x + 2 * u * t * mx + t * t * to.x, u * u * from.y + 2 * u * t * my + t * t * to.y});
  }
}

/// Draws a route hop by hop.
class RouteLines {
 public:
  RouteLines(const ViewLayout& layout, const Topology& topology, NodeId source) : layout_{layout}, topology_{topology} {
    line_.push_back(layout.at(source));
  }

  void hop(NodeId from, Dimension d, std::int32_t hop, NodeId to) {
    const Point a = layout_.at(from), b = layout_.at(to);
    const bool complete = topology_.wiring(d) == Wiring::complete;
    if (complete || (d != layout_.across() && d != layout_.down())) {
      // A leg from one small grid to another is one curve, however many grids it passes.
      if (!arc_ || arc_->dimension != d || arc_->hop != hop || complete) {
        finish();
        arc_ = Arc{d, hop, a, {}};
      }
      arc_->to = b;
      straight_.reset();
      return;
    }
    if (arc_) finish();
    const double dx = d == layout_.across() ? hop : 0, dy = d == layout_.down() ? hop : 0;
    const double ox = -dy * lane, oy = dx * lane;
    if (straight_ != std::pair(d, hop)) {
      finish();
      line_.push_back({a.x + ox + near * dx, a.y + oy + near * dy});
    }
    if (b.x - a.x != dx || b.y - a.y != dy) {
      line_.push_back({a.x + ox + outside * dx, a.y + oy + outside * dy});
      lines_.push_back(std::move(line_));
      line_ = {{b.x + ox - outside * dx, b.y + oy - outside * dy}};
    }
    straight_ = std::pair(d, hop);
    stop_ = Point{b.x + ox - near * dx, b.y + oy - near * dy};
  }

  std::vector<std::vector<Point>> lines() {
    finish();
    if (line_.size() > 1) lines_.push_back(std::move(line_));
    return std::move(lines_);
  }

 private:
  static constexpr double lane = 0.14, near = 0.3, outside = 0.75;
  struct Arc {
    Dimension dimension;
    std::int32_t hop;
    Point from, to;
  };
  void finish() {
    if (stop_) line_.push_back(*stop_);
    if (arc_) bow(line_, arc_->from, arc_->to);
    stop_.reset();
    arc_.reset();
  }

  const ViewLayout& layout_;
  const Topology& topology_;
  std::vector<std::vector<Point>> lines_;
  std::vector<Point> line_;
  std::optional<std::pair<Dimension, std::int32_t>> straight_;  // the last hop, if it was along an axis
  std::optional<Point> stop_;                                   // where the line would end after it: short of the node
  std::optional<Arc> arc_;
};

}  // namespace

ViewLayout::ViewLayout(const Topology& topology) : topology_{topology} {
  const int k = static_cast<int>(topology.dimensions());
  across_ = k - 1;
  down_ = k - 2;
  const auto extent = [&](int d) { return static_cast<int>(topology.extent(static_cast<Dimension>(d))); };
  const bool folded = down_ < 0 && extent(across_) > 64;
  const int width = folded ? 64 : extent(across_);
  const int height = folded ? (extent(across_) + 63) / 64 : down_ < 0 ? 1 : extent(down_);
  int panels = 1, panel_columns = 1;
  for (int d = 0; d < k - 2; ++d) panels *= extent(d);
  if (k == 3) panel_columns = static_cast<int>(std::ceil(std::sqrt(double(panels) * height / width)));
  for (int d = (k - 2) / 2; k > 3 && d < k - 2; ++d) panel_columns *= extent(d);
  panel_columns = std::clamp(panel_columns, 1, panels);
  bool ring = false;
  for (const int d : {across_, down_})
    ring = ring || (d >= 0 && extent(d) > 1 && topology.wiring(static_cast<Dimension>(d)) == Wiring::ring);
  const int gap = panels == 1 ? 0 : ring ? 2 : 1;
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    int panel = 0;
    for (int d = 0; d < k - 2; ++d) panel = panel * extent(d) + static_cast<int>(topology.coordinate(node, static_cast<Dimension>(d)));
    const int c = static_cast<int>(topology.coordinate(node, static_cast<Dimension>(across_)));
    const int r = down_ < 0 ? 0 : static_cast<int>(topology.coordinate(node, static_cast<Dimension>(down_)));
    x_.push_back(panel % panel_columns * (width + gap) + (folded ? c % width : c));
    y_.push_back(panel / panel_columns * (height + gap) + (folded ? c / width : r));
  }
  columns_ = panel_columns * (width + gap) - gap;
  rows_ = (panels + panel_columns - 1) / panel_columns * (height + gap) - gap;
}

std::vector<std::vector<Point>> ViewLayout::route(NodeId source, std::span<const Leg> path) const {
  RouteLines lines(*this, topology_, source);
  each_hop(topology_, source, path, [&](NodeId from, Dimension d, std::int32_t hop, NodeId to) { lines.hop(from, d, hop, to); });
  return lines.lines();
}

}  // namespace torus::command
