/// Draws a chart: model time, times the bound and wall time, one below the other, over one axis of sizes.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include <torus/error.hpp>

#include "runtime/base/figures.hpp"
#include "tools/torus/curves/curves.hpp"
#include "tools/torus/setting/notation.hpp"
#include "tools/torus/view/svg.hpp"

namespace torus::command {
namespace {

constexpr double left = 84, right = 660;
constexpr double heading = 50;      // of a chart in a file of its own
constexpr double line_height = 15;  // of names beside the curves

/// A logarithmic axis from low to high, drawn from `from` to `to`.
struct Axis {
  double low = 1, high = 10, from = 0, to = 1;
  double operator()(double value) const { return from + (to - from) * std::log(value / low) / std::log(high / low); }
};

/// Sizes stand at their number of bytes; 0, which no logarithm has, at half of the smallest.
class Sizes {
 public:
  explicit Sizes(const std::vector<Bytes>& sizes) : sizes_{sizes} {
    const auto first = std::find_if(sizes.begin(), sizes.end(), [](Bytes b) { return b > 0; });
    smallest_ = first == sizes.end() ? 2 : static_cast<double>(*first);
    axis_ = {at(sizes.front()), at(sizes.back()), left + 14, right - 14};
    if (axis_.low == axis_.high) axis_ = {axis_.low / 2, axis_.high * 2, axis_.from, axis_.to};
  }
  double at(Bytes bytes) const { return bytes == 0 ? smallest_ / 2 : static_cast<double>(bytes); }
  double x(double bytes) const { return axis_(std::max(bytes, axis_.low)); }
  double x(Bytes bytes) const { return axis_(at(bytes)); }

  /// Sizes of the table that have room for their names.
  std::vector<Bytes> ticks() const {
    std::vector<Bytes> ticks;
    double taken = -1e9;
    for (const Bytes size : sizes_) {
      const double half = svg::width_of(bytes_option(size)) / 2;
      if (x(size) - half < taken + 8) continue;
      ticks.push_back(size);
      taken = x(size) + half;
    }
    return ticks;
  }

 private:
  const std::vector<Bytes>& sizes_;
  double smallest_ = 1;
  Axis axis_;
};

/// A curve of a panel: its points in pixels, and what the pointer reads there.
struct Dot {
  double x = 0, y = 0;
  bool full = false;
  std::string words;
};
struct Path {
  std::size_t curve = 0;
  std::vector<Dot> dots;
};

std::string classes_of(std::size_t curve) { return fmt::format("c{}", curve % svg::colours); }
std::string dashes_of(std::size_t curve) { return fmt::format("d{}", curve / svg::colours % 3); }

/// Places for names beside their ends: as near as they can be without covering one another.
std::vector<double> spread(std::vector<double> wanted, double top, double bottom) {
  std::vector<std::size_t> order(wanted.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return wanted[a] < wanted[b]; });
  double free = top;
  for (const std::size_t i : order) {
    wanted[i] = std::max(wanted[i], free);
    free = wanted[i] + line_height;
  }
  double last = bottom;
  for (auto i = order.rbegin(); i != order.rend(); ++i) {
    wanted[*i] = std::min(wanted[*i], last);
    last = wanted[*i] - line_height;
  }
  return wanted;
}

/// One of the pictures that stand one below the other.
class Panel {
 public:
  Panel(const Chart& chart, const Sizes& sizes, double top, double height)
      : chart_{chart}, sizes_{sizes}, top_{top}, bottom_{top + height} {}

  /// Values of a curve and of the bound decide what the axis shows.
  void see(double value) {
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
  }
  /// Draws the axes. `words` writes a value; `least_span` is how far the axis goes at least.
  template <class Words>
  void axes(std::string_view title, double least_span, Words&& words) {
    const double margin = std::max(std::pow(high_ / low_, 0.05), std::sqrt(std::max(1.0, least_span * low_ / high_)));
    y_ = {low_ / margin, high_ * margin, bottom_, top_};
    out_ += svg::text(left, top_ - 10, "start", title, "ink title");
    double taken = bottom_ + 20;
    const double decades = std::log10(y_.high / y_.low);
    for (double decade = std::pow(10, std::floor(std::log10(y_.low))); decade < y_.high; decade *= 10) {
      for (int step = 1; step < 10; ++step) {
        const double value = decade * step;
        if (value < y_.low * 0.999999 || value > y_.high * 1.000001) continue;
        const double y = y_(value);
        const bool named = step == 1 || (decades < 2.5 && (step == 2 || step == 5)) || decades < 0.5;
        if (named || decades < 4) out_ += svg::line(left, y, right, y, named ? "grid" : "fine");
        if (!named || y > taken - 14) continue;
        taken = y;
        out_ += svg::text(left - 8, y + 4.5, "end", words(value), "soft");
      }
    }
    for (const Bytes size : sizes_.ticks()) {
      out_ += svg::line(sizes_.x(size), bottom_, sizes_.x(size), bottom_ + 5, "axis");
      out_ += svg::text(sizes_.x(size), bottom_ + 19, "middle", bytes_option(size), "soft");
    }
    out_ += fmt::format("<path class=\"axis\" d=\"M{0} {2}V{3}H{1}\"/>\n", left, right, top_, bottom_);
  }
  double y(double value) const { return y_(value); }

  void bound(const std::vector<std::pair<double, double>>& points) {
    if (points.empty()) return;
    std::string d;
    for (const auto& [x, y] : points) d += fmt::format("{}{:.1f} {:.1f}", d.empty() ? "M" : "L", x, y);
    if (points.size() == 1) d = fmt::format("M{:.1f} {:.1f}h28", points.front().first - 14, points.front().second);
    out_ += fmt::format("<path class=\"bound\" d=\"{}\"/>\n", d);
    names_.push_back({"lower bound", "", points.back().first, points.back().second, std::nullopt});
  }

  void curve(const Path& path) {
    if (path.dots.empty()) return;
    names_.push_back({chart_.curves[path.curve].algorithm, classes_of(path.curve), path.dots.back().x, path.dots.back().y, path.curve});
    std::string d, marks;
    for (const Dot& dot : path.dots) {
      d += fmt::format("{}{:.1f} {:.1f}", d.empty() ? "M" : "L", dot.x, dot.y);
      std::string mark = svg::mark(path.curve, dot.x, dot.y, classes_of(path.curve) + (dot.full ? " full" : " hollow"));
      mark.replace(mark.rfind("/>"), 2, fmt::format("><title>{}</title>", svg::escaped(dot.words)));
      marks += mark + (mark.starts_with("<circle") ? "</circle>" : "</path>");
    }
    curves_[path.curve] = fmt::format("<path class=\"{} {}\" d=\"{}\"/>{}", classes_of(path.curve), dashes_of(path.curve), d, marks);
  }

  void crossing(const Crossing& crossing) {
    const double x = sizes_.x(crossing.bytes), y = y_(crossing.seconds);
    const std::string size = bytes_text(static_cast<Bytes>(std::max(crossing.bytes, 0.0)));
    const std::string& before = chart_.curves[crossing.before].algorithm;
    const std::string& after = chart_.curves[crossing.after].algorithm;
    std::string faster;
    for (const std::size_t c : crossing.faster) faster += fmt::format("{}{}", faster.empty() ? "" : " ", c);
    crossings_ += fmt::format("<g class=\"crossing\" data-pair=\"{} {}\" data-faster=\"{}\" data-size=\"{}\"{}><title>{}</title>",
                              crossing.before, crossing.after, faster, size, crossing.faster.empty() ? "" : " display=\"none\"",
                              svg::escaped(fmt::format("from about {} on {} is faster than {}", size, after, before)));
    crossings_ += svg::line(x, y + 7, x, bottom_, "drop");
    crossings_ += svg::text(x + 4, bottom_ - 6, "start", size, "soft");
    crossings_ += fmt::format("<circle class=\"cross\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"7\"/></g>\n", x, y);
  }

  /// Everything, the names last.
  std::string finish() {
    std::vector<double> wanted;
    for (const Name& name : names_) wanted.push_back(name.y);
    wanted = spread(std::move(wanted), top_ + 6, bottom_);
    std::string labels;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const Name& name = names_[i];
      std::string label = name.curve ? svg::line(name.x + 7, name.y, right + 18, wanted[i], "leader " + name.classes) +
                                           svg::mark(*name.curve, right + 24, wanted[i], name.classes + " full")
                                     : svg::line(right + 16, wanted[i], right + 31, wanted[i], "bound");
      label += svg::text(right + 36, wanted[i] + 4.5, "start", name.words, name.curve ? "ink" : "ink title");
      if (name.curve)
        curves_[*name.curve] += label;
      else
        labels += label;
    }
    for (const auto& [curve, drawn] : curves_) out_ += fmt::format("<g class=\"curve\" data-curve=\"{}\">{}</g>\n", curve, drawn);
    return out_ + labels + crossings_;
  }

 private:
  struct Name {
    std::string words, classes;
    double x = 0, y = 0;
    std::optional<std::size_t> curve;
  };
  const Chart& chart_;
  const Sizes& sizes_;
  double top_, bottom_;
  double low_ = 1e300, high_ = 0;
  Axis y_;
  std::string out_, crossings_;
  std::map<std::size_t, std::string> curves_;
  std::vector<Name> names_;
};

std::string times_bound_text(double ratio) { return fmt::format("x{:.4g}", ratio); }

std::string words_of(const Curve& curve, const CurvePoint& point, TimeKind kind, std::optional<double> bound) {
  std::string words = fmt::format("{}, {}: {}", curve.algorithm, bytes_option(point.bytes), seconds_text(*time_of(point, kind)));
  if (kind == TimeKind::wall) return words + " on the host";
  if (bound) words += ", " + times_bound_text(point.model_time_s / *bound) + " the lower bound";
  if (!point.steps.empty()) words += ", " + point.steps + (point.steps == "1" ? " step" : " steps");
  return words + (point.run ? ", run and verified" : point.exact ? ", predicted" : ", predicted: an upper limit or an estimate");
}

/// A panel of all curves; value(point) is none where a curve has no point. Empty where no curve has one.
template <class Value, class Words>
std::string panel(const Chart& chart, const Sizes& sizes, TimeKind kind, double top, double height, std::string_view title,
                  const std::vector<std::pair<Bytes, double>>& bound, double least_span, Value&& value, Words&& words, bool crossings) {
  Panel panel(chart, sizes, top, height);
  bool any = false;
  for (const auto& [size, y] : bound) panel.see(y);
  for (const Curve& curve : chart.curves) {
    for (const CurvePoint& point : curve.points) {
      if (const auto v = value(point)) {
        panel.see(*v);
        any = true;
      }
    }
  }
  if (!any) return "";
  panel.axes(title, least_span, words);
  std::vector<std::pair<double, double>> line;
  for (const auto& [size, y] : bound) line.emplace_back(sizes.x(size), panel.y(y));
  panel.bound(line);
  for (std::size_t c = 0; c < chart.curves.size(); ++c) {
    Path path{c, {}};
    for (const CurvePoint& point : chart.curves[c].points) {
      const auto v = value(point);
      if (!v) continue;
      const auto at = chart.bound_s.find(point.bytes);
      path.dots.push_back({sizes.x(point.bytes), panel.y(*v), kind == TimeKind::wall || point.run,
                           words_of(chart.curves[c], point, kind, at == chart.bound_s.end() ? std::nullopt : std::optional(at->second))});
    }
    panel.curve(path);
  }
  if (crossings) {
    for (const Crossing& crossing : crossings_of(chart, kind)) panel.crossing(crossing);
  }
  return panel.finish();
}

}  // namespace

Figure figure_of(const Chart& chart) {
  const std::vector<Bytes> all = chart.sizes();
  const Sizes sizes(all);
  constexpr double title = 1.5;  // larger and bold
  double names = title * svg::width_of("lower bound");
  for (const Curve& curve : chart.curves) names = std::max(names, svg::width_of(curve.algorithm));
  const double labels = line_height * static_cast<double>(chart.curves.size() + 2);
  Figure figure{right + 48 + names, 0, {}};
  const auto add = [&](double height, auto&& draw) {
    const std::string drawn = draw(figure.height + 26, std::max(height, labels));
    if (drawn.empty()) return;
    figure.body += drawn;
    figure.height += 26 + std::max(height, labels) + 36;
  };

  std::vector<std::pair<Bytes, double>> bound(chart.bound_s.begin(), chart.bound_s.end()), one;
  for (const auto& [size, seconds] : bound) one.emplace_back(size, 1.0);
  add(320, [&](double top, double height) {
    return panel(
        chart, sizes, TimeKind::model, top, height, "model time", bound, 4, [](const CurvePoint& p) { return time_of(p, TimeKind::model); },
        seconds_text, true);
  });
  add(200, [&](double top, double height) {
    if (bound.empty()) return std::string();
    const auto ratio = [&](const CurvePoint& p) {
      const auto time = time_of(p, TimeKind::model);
      const auto at = chart.bound_s.find(p.bytes);
      return time && at != chart.bound_s.end() ? std::optional(*time / at->second) : std::nullopt;
    };
    return panel(chart, sizes, TimeKind::model, top, height, "times the lower bound", one, 3, ratio, times_bound_text, false);
  });
  add(280, [&](double top, double height) {
    return panel(
        chart, sizes, TimeKind::wall, top, height, "measured on the host", {}, 4,
        [](const CurvePoint& p) { return time_of(p, TimeKind::wall); }, seconds_text, true);
  });
  return figure;
}

std::string curves_svg(const std::vector<Chart>& charts) {
  double width = 0, height = 0;
  std::string body;
  for (const Chart& chart : charts) {
    const Figure figure = figure_of(chart);
    body +=
        svg::text(left, height + 22, "start", chart.title(), "ink title") + svg::text(left, height + 42, "start", chart.machine, "soft");
    body += fmt::format("<g transform=\"translate(0 {:.0f})\">\n{}</g>\n", height + heading, figure.body);
    width = std::max(width, figure.width);
    height += heading + figure.height;
  }
  return svg::document(width, height, body);
}

}  // namespace torus::command
