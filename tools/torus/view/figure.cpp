/// Steps of a run as one figure, side by side.
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <optional>

#include <torus/error.hpp>

#include "runtime/base/figures.hpp"
#include "tools/torus/view/layout.hpp"
#include "tools/torus/view/playback.hpp"
#include "tools/torus/view/svg.hpp"

namespace torus::command {
namespace {

constexpr std::size_t most_steps = 24, most_messages = 20'000;
constexpr std::uint64_t most_nodes = 4096;

/// From dark blue to yellow, as in the page: it grows lighter all the way, so that it needs no sight of hues.
std::string colour(double share) {
  constexpr std::array<std::array<double, 3>, 9> ramp{{{68, 1, 84},
                                                       {71, 44, 122},
                                                       {59, 81, 139},
                                                       {44, 113, 142},
                                                       {33, 144, 141},
                                                       {39, 173, 129},
                                                       {92, 200, 99},
                                                       {170, 220, 50},
                                                       {253, 231, 37}}};
  const double at = std::clamp(share, 0.0, 1.0) * 8;
  const std::size_t i = std::min<std::size_t>(static_cast<std::size_t>(at), 7);
  std::string text = "#";
  for (std::size_t c = 0; c < 3; ++c)
    text +=
        fmt::format("{:02x}", static_cast<int>(std::lround(ramp[i][c] + (ramp[i + 1][c] - ramp[i][c]) * (at - static_cast<double>(i)))));
  return text;
}

/// The machine after one step, with the step's routes.
class Picture {
 public:
  Picture(const Topology& topology, const TraceGroups& groups, const ViewLayout& layout, double cell)
      : topology_{topology}, groups_{groups}, layout_{layout}, cell_{cell} {
    if (groups.count() > 1) colour_ = groups.colour();
  }

  std::string links() const {
    std::string d;
    const auto bar = [&](Point a, double dx, double dy) {
      d += fmt::format("M{:.1f} {:.1f}l{:.1f} {:.1f}", px(a.x), px(a.y), dx * cell_, dy * cell_);
    };
    for (NodeId node = 0; node < topology_.nodes(); ++node) {
      const Point a = layout_.at(node);
      for (const int axis : {layout_.across(), layout_.down()}) {
        if (axis < 0) continue;
        const auto dimension = static_cast<Dimension>(axis);
        if (topology_.extent(dimension) == 1 || topology_.wiring(dimension) == Wiring::complete) continue;
        for (const int hop : {1, -1}) {
          const auto other = topology_.neighbour(node, dimension, hop);
          if (!other) continue;
          const Point b = layout_.at(*other);
          const double dx = axis == layout_.across() ? hop : 0, dy = axis == layout_.down() ? hop : 0;
          const bool beside = b.x - a.x == dx && b.y - a.y == dy;
          if (!beside)
            bar(a, 0.75 * dx, 0.75 * dy);
          else if (hop > 0)
            bar(a, dx, dy);
        }
      }
    }
    return fmt::format("<path class=\"link\" d=\"{}\"/>\n", d);
  }

  std::string nodes(const View::Frame& frame, const std::vector<NodeId>& sources) const {
    std::string out;
    const double size = 0.56 * cell_;
    for (NodeId node = 0; node < topology_.nodes(); ++node) {
      const Point at = layout_.at(node);
      const double share = frame.share[node];
      const bool source = sources.size() < topology_.nodes() && std::binary_search(sources.begin(), sources.end(), node);
      const auto group = class_of(node);
      out += fmt::format("<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n",
                         source  ? "frame source"
                         : group ? *group + "\" stroke-width=\"2.4"
                                 : "frame",
                         px(at.x) - size / 2, px(at.y) - size / 2, size, size,
                         share < 0    ? "#c3cad2"
                         : share == 0 ? "#fff"
                                      : colour(share));
    }
    return out;
  }

  std::string routes(const View::Frame& frame) const {
    std::string under, over, heads;
    for (const View::FrameMessage& message : frame.messages) {
      const auto lines = layout_.route(message.source, message.path);
      if (lines.empty()) continue;
      std::string d;
      for (const auto& line : lines) {
        char letter = 'M';
        for (const Point& p : line) {
          d += fmt::format("{}{:.1f} {:.1f}", letter, px(p.x), px(p.y));
          letter = 'L';
        }
      }
      under += fmt::format("<path class=\"under\" d=\"{}\"/>\n", d);
      const auto group = class_of(message.source);
      const std::string classes =
          group ? fmt::format("{}\" fill=\"none\" stroke-width=\"2{}", *group, message.data ? "" : "\" stroke-dasharray=\"3 3")
                : fmt::format("route{}", message.data ? "" : " control");
      over += fmt::format("<path class=\"{}\" d=\"{}\"/>\n", classes, d);
      heads += arrow(lines.back(), group ? "full " + *group : message.data ? "head" : "control_head");
    }
    return under + over + heads;
  }

 private:
  double px(double cells) const { return (cells + 1) * cell_; }
  /// The colour of a node's group, where there are several.
  std::optional<std::string> class_of(NodeId node) const {
    const NodeId group = groups_.place(node).group;
    if (colour_.empty() || group == TraceGroups::none) return std::nullopt;
    return fmt::format("c{}", colour_[group]);
  }

  std::string arrow(const std::vector<Point>& line, std::string_view classes) const {
    const Point a = line[line.size() - 2], b = line.back();
    const double angle = std::atan2(b.y - a.y, b.x - a.x), head = std::min(10.0, cell_ * 0.24);
    const auto corner = [&](double turn, double length) {
      return fmt::format("{:.1f} {:.1f}", px(b.x) + length * std::cos(angle + turn), px(b.y) + length * std::sin(angle + turn));
    };
    return fmt::format("<path class=\"{}\" d=\"M{}L{}L{}z\"/>\n", classes, corner(0, head * 0.5), corner(2.5, head), corner(-2.5, head));
  }

  const Topology& topology_;
  const TraceGroups& groups_;
  const ViewLayout& layout_;
  double cell_;
  std::vector<NodeId> colour_;  // by group; none: there is one
};

std::string legend(const std::string& collective, double x, double y, bool control) {
  const bool heard = !facts_of(collective).carries_bytes(), counts = ContributorCounts::follows(collective);
  std::string out = svg::text(x, y, "start", counts ? "has 0" : "holds 0", "soft");
  for (int i = 0; i < 9; ++i)
    out +=
        fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"12\" height=\"11\" fill=\"{}\"/>", x + 52 + 12 * i, y - 10, colour(i / 8.0));
  out += "\n" +
         svg::text(x + 166, y, "start",
                   heard    ? "heard of all nodes"
                   : counts ? "all contributors"
                            : "all of its blocks",
                   "soft") +
         svg::line(x + 282, y - 4, x + 308, y - 4, "route") + svg::text(x + 314, y, "start", "data", "soft");
  if (control) out += svg::line(x + 360, y - 4, x + 386, y - 4, "route control") + svg::text(x + 392, y, "start", "control only", "soft");
  return out;
}

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

std::string View::svg(const std::optional<std::vector<Step>>& chosen) {
  settle();
  const Topology& topology = header_.machine.topology;
  if (left_out_) throw InputError(fmt::format("--svg: there are no messages to draw, since {}; choose a smaller run", *left_out_));
  if (topology.nodes() > most_nodes)
    throw InputError(fmt::format("--svg: the machine has {} nodes, and a figure draws at most {}; the page (-o) draws {}",
                                 grouped(topology.nodes()), grouped(most_nodes), grouped(max_nodes)));
  std::vector<Step> steps;
  if (chosen) {
    steps = *chosen;
  } else {
    for (const StepSum& sum : sums_) steps.push_back(sum.step);
    if (steps.empty()) throw InputError("--svg: the run has no messages; there is no step to draw");
  }
  if (steps.size() > most_steps)
    throw InputError(fmt::format("--svg: {} steps, and a figure shows at most {}; choose some, for instance --steps {}",
                                 grouped(steps.size()), most_steps, steps.front()));
  for (const Step step : steps) {
    if (step >= steps_)
      throw InputError(
          fmt::format("--steps {}: the run has {}", step, steps_ == 0 ? "no steps" : fmt::format("steps 0 to {}", steps_ - 1)));
  }

  const ViewLayout layout(topology);
  const double columns = layout.columns() + 1, rows = layout.rows() + 1;
  const auto count = static_cast<double>(steps.size());
  const double cell = std::clamp(1000 / (count * columns), 14.0, 34.0);
  const double across = std::max(1.0, std::min(count, std::floor(1300 / (columns * cell))));
  const double wide = std::max(columns * cell, 150.0), high = rows * cell + (phases_.empty() ? 30 : 45);
  constexpr double head = 40;
  const Picture picture(topology, groups_, layout, cell);
  const std::vector<NodeId> sources = groups_.nodes_of(header_.sources);
  std::string body = svg::text(cell / 2, 22, "start",
                               fmt::format("{} by {} on {}{}", header_.collective, header_.algorithm, topology.text(),
                                           groups_.count() > 1 ? fmt::format(", in {} groups", grouped(groups_.count())) : ""),
                               "ink title");
  bool control = false;
  std::size_t messages = 0;
  const std::string links = picture.links();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Frame frame = frame_of(steps[i]);
    messages += frame.messages.size();
    if (messages > most_messages)
      throw InputError(
          fmt::format("--svg: more than {} messages; choose fewer steps, for instance --steps {}", grouped(most_messages), steps[0]));
    for (const FrameMessage& m : frame.messages) control = control || !m.data;
    const double x = std::fmod(static_cast<double>(i), across) * wide, y = head + std::floor(static_cast<double>(i) / across) * high;
    body += fmt::format("<g class=\"step\" transform=\"translate({:.0f} {:.0f})\">\n{}{}{}", x, y, links, picture.nodes(frame, sources),
                        picture.routes(frame));
    body += svg::text(cell / 2, rows * cell + 12, "start",
                      fmt::format("step {}: {}", grouped(frame.step), counted(frame.messages.size(), "message")));
    if (!frame.phase.empty()) body += svg::text(cell / 2, rows * cell + 27, "start", frame.phase);
    body += "</g>\n";
  }
  const double height = head + std::ceil(count / across) * high + 12;
  body += legend(header_.collective, cell / 2, height + 8, control);
  return svg::document(std::max(across * wide, 500.0), height + 24, body);
}

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
  if (k == 3) {
    // About a square, or up to twice as wide where then no row has an empty place.
    const double square = std::sqrt(double(panels) * height / width);
    panel_columns = static_cast<int>(std::ceil(square));
    for (int c = panel_columns; c < 2 * square; ++c) {
      if (panels % c != 0) continue;
      panel_columns = c;
      break;
    }
  }
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
