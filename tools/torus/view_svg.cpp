/// Steps of a run as one figure, side by side.
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

#include <torus/error.hpp>

#include "runtime/model/figures.hpp"
#include "tools/torus/svg.hpp"
#include "tools/torus/view.hpp"
#include "tools/torus/view_layout.hpp"

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
  Picture(const Topology& topology, const ViewLayout& layout, double cell) : topology_{topology}, layout_{layout}, cell_{cell} {}

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
      out += fmt::format("<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n",
                         source ? "frame source" : "frame", px(at.x) - size / 2, px(at.y) - size / 2, size, size,
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
      over += fmt::format("<path class=\"route{}\" d=\"{}\"/>\n", message.data ? "" : " control", d);
      heads += arrow(lines.back(), message.data);
    }
    return under + over + heads;
  }

 private:
  double px(double cells) const { return (cells + 1) * cell_; }

  std::string arrow(const std::vector<Point>& line, bool data) const {
    const Point a = line[line.size() - 2], b = line.back();
    const double angle = std::atan2(b.y - a.y, b.x - a.x), head = std::min(10.0, cell_ * 0.24);
    const auto corner = [&](double turn, double length) {
      return fmt::format("{:.1f} {:.1f}", px(b.x) + length * std::cos(angle + turn), px(b.y) + length * std::sin(angle + turn));
    };
    return fmt::format("<path class=\"{}\" d=\"M{}L{}L{}z\"/>\n", data ? "head" : "control_head", corner(0, head * 0.5), corner(2.5, head),
                       corner(-2.5, head));
  }

  const Topology& topology_;
  const ViewLayout& layout_;
  double cell_;
};

std::string legend(const std::string& collective, double x, double y, bool control) {
  const bool heard = collective == "barrier", counts = ContributorCounts::follows(collective);
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
  const double wide = std::max(columns * cell, 150.0), high = rows * cell + 30;
  constexpr double head = 40;
  const Picture picture(topology, layout, cell);
  std::string body =
      svg::text(cell / 2, 22, "start", fmt::format("{} by {} on {}", header_.collective, header_.algorithm, topology.text()), "ink title");
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
    body += fmt::format("<g class=\"step\" transform=\"translate({:.0f} {:.0f})\">\n{}{}{}", x, y, links,
                        picture.nodes(frame, header_.sources), picture.routes(frame));
    body += svg::text(cell / 2, rows * cell + 12, "start",
                      fmt::format("step {}: {} {}{}", grouped(frame.step), grouped(frame.messages.size()),
                                  frame.messages.size() == 1 ? "message" : "messages", frame.phase.empty() ? "" : ", " + frame.phase)) +
            "</g>\n";
  }
  const double height = head + std::ceil(count / across) * high + 12;
  body += legend(header_.collective, cell / 2, height + 8, control);
  return svg::document(std::max(across * wide, 500.0), height + 24, body);
}

}  // namespace torus::command
