#include "tools/torus/curves/curves.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <tuple>

#include <torus/error.hpp>

#include "runtime/base/figures.hpp"
#include "runtime/base/lines.hpp"
#include "tools/torus/cli/console.hpp"
#include "tools/torus/setting/notation.hpp"

namespace torus::command {
namespace {

/// What of a machine sets its charts apart, and how it is said.
std::string machine_of(const std::map<std::string_view, std::string_view>& value) {
  std::string text;
  const auto add = [&](std::string_view column, std::string_view format) {
    if (const std::string_view found = value.at(column); !found.empty())
      text += (text.empty() ? "" : ", ") + fmt::format(fmt::runtime(format), found);
  };
  add("switching", "{}");
  add("ports", value.at("ports") == "1" ? "{} port" : "{} ports");
  add("contention", "contention {}");
  for (const auto& [column, cost, of] :
       {std::tuple("ts_s", "T_s", ""), std::tuple("tc_s", "T_c", " a byte"), std::tuple("th_s", "T_h", " a hop")}) {
    const auto seconds = real_number(value.at(column));
    if (seconds && (*seconds > 0 || cost != std::string_view("T_h"))) text += fmt::format(", {} {}{}", cost, seconds_text(*seconds), of);
  }
  if (value.at("source_count") != "1" && value.at("source_count") != "0") add("source_count", "{} sources");
  return text;
}

/// The sizes of a chart as places on its axis: logarithms, and for 0 bytes, which have none, a factor of two before the smallest.
class Places {
 public:
  explicit Places(const Chart& chart) {
    for (const Bytes size : chart.sizes()) {
      if (size > 0 && smallest_ == 0) smallest_ = static_cast<double>(size);
    }
  }
  double operator()(Bytes bytes) const {
    return bytes == 0 ? std::log2(std::max(smallest_, 2.0) / 2) : std::log2(static_cast<double>(bytes));
  }

 private:
  double smallest_ = 0;
};

/// The logarithms of a curve's times, between its sizes too.
class Track {
 public:
  Track(const Curve& curve, TimeKind kind, const Places& place) {
    for (const CurvePoint& point : curve.points) {
      if (const auto time = time_of(point, kind)) points_.emplace_back(place(point.bytes), std::log(*time));
    }
  }
  std::optional<double> at(double x) const {
    const auto after = std::lower_bound(points_.begin(), points_.end(), x, [](const auto& p, double to) { return p.first < to; });
    if (after == points_.end()) return std::nullopt;
    if (after->first == x) return after->second;
    if (after == points_.begin()) return std::nullopt;
    const auto before = after - 1;
    return before->second + (after->second - before->second) * (x - before->first) / (after->first - before->first);
  }
  const std::vector<std::pair<double, double>>& points() const noexcept { return points_; }

 private:
  std::vector<std::pair<double, double>> points_;
};

/// Calls f(x, y, whether a was below before) where the sign of a - b changes. Where they tie for a while, that is at its end.
template <class F>
void each_crossing(const Track& a, const Track& b, F&& f) {
  constexpr double equal = 1e-9;
  double before = 0, before_x = 0;  // the last difference that was none of zero
  bool tied = false;
  double tie_x = 0, tie_y = 0;
  for (const auto& [x, y] : a.points()) {
    const auto other = b.at(x);
    if (!other) continue;
    const double difference = y - *other;
    if (std::abs(difference) < equal) {
      tied = true;
      tie_x = x;
      tie_y = y;
      continue;
    }
    if (before * difference < 0) {
      if (tied) {
        f(tie_x, tie_y, before < 0);
      } else {
        const double at = before_x + (x - before_x) * before / (before - difference);
        f(at, a.at(at).value_or(y), before < 0);
      }
    }
    tied = false;
    before = difference;
    before_x = x;
  }
}

}  // namespace

std::vector<Bytes> Chart::sizes() const {
  std::vector<Bytes> sizes;
  for (const Curve& curve : curves) {
    for (const CurvePoint& point : curve.points) sizes.push_back(point.bytes);
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

CurveTable::CurveTable(std::string_view names) {
  const auto cells = csv_cells(names);
  width_ = cells.size();
  for (std::size_t i = 0; i < cells.size(); ++i) columns_.emplace(cells[i], i);
  for (const std::string_view needed : {"collective", "shape", "algorithm", "bytes"}) {
    if (!columns_.contains(needed))
      throw InputError(
          fmt::format("there is no column '{}'; it must be a table that torus sweep, compare or bench wrote with --csv", needed));
  }
}

std::string_view CurveTable::cell(const std::vector<std::string>& cells, std::string_view column) const {
  const auto at = columns_.find(column);
  return at == columns_.end() ? std::string_view() : cells[at->second];
}

std::optional<double> CurveTable::number(const std::vector<std::string>& cells, std::string_view column) const {
  const std::string_view text = cell(cells, column);
  if (text.empty()) return std::nullopt;
  const auto value = real_number(text);
  if (!value || !std::isfinite(*value) || *value < 0)
    throw InputError(fmt::format("{} is '{}'; it must be a number from 0, for instance 1e-06", column, text));
  return value;
}

void CurveTable::row(std::string_view line) {
  const auto cells = csv_cells(line);
  if (cells.size() != width_) throw InputError(fmt::format("it has {} values and the first line {}", cells.size(), width_));
  const auto bytes = whole_number(cell(cells, "bytes"));
  if (!bytes) throw InputError(fmt::format("bytes is '{}'; it must be a whole number, for instance 4096", cell(cells, "bytes")));
  CurvePoint point;
  point.bytes = *bytes;
  const auto measured = number(cells, "model_time_s"), predicted = number(cells, "model_time_formula_s");
  point.run = measured.has_value();
  point.model_time_s = measured ? *measured : predicted.value_or(0);
  point.exact = cell(cells, "steps_formula_exact") != "false";
  point.failed = !cell(cells, "failure").empty() || (point.run && cell(cells, "verified") == "false");
  point.wall_s = number(cells, "time_median_s");
  if (!point.wall_s) point.wall_s = number(cells, "run_s");
  point.steps = cell(cells, point.run ? "steps" : "steps_formula");
  if (!measured && !predicted && !point.wall_s) return;  // a row that did not run

  std::map<std::string_view, std::string_view> machine;
  for (const std::string_view column : {"switching", "ports", "contention", "ts_s", "tc_s", "th_s", "source_count"})
    machine[column] = cell(cells, column);
  Chart key{std::string(cell(cells, "collective")), std::string(cell(cells, "shape")), machine_of(machine), {}, {}};
  auto chart = std::find_if(charts_.begin(), charts_.end(), [&](const Chart& other) {
    return other.collective == key.collective && other.shape == key.shape && other.machine == key.machine;
  });
  if (chart == charts_.end()) {
    if (charts_.size() == max_charts)
      throw InputError(fmt::format("the table has more than {} machines and shapes; plot a part of it", max_charts));
    chart = charts_.insert(chart, std::move(key));
  }
  if (++points_ > max_points) throw InputError(fmt::format("the table has more than {} rows; plot a part of it", grouped(max_points)));
  if (const auto bound = number(cells, "model_time_lower_bound_s"); bound && *bound > 0) chart->bound_s[point.bytes] = *bound;
  const std::string_view algorithm = cell(cells, "algorithm");
  auto curve = std::find_if(chart->curves.begin(), chart->curves.end(), [&](const Curve& c) { return c.algorithm == algorithm; });
  if (curve == chart->curves.end()) curve = chart->curves.insert(curve, {std::string(algorithm), {}});
  const auto at = std::lower_bound(curve->points.begin(), curve->points.end(), point.bytes,
                                   [](const CurvePoint& p, Bytes size) { return p.bytes < size; });
  if (at != curve->points.end() && at->bytes == point.bytes)
    throw InputError(
        fmt::format("{} on {} at {} is there twice; a curve has each size once", algorithm, chart->shape, counted(point.bytes, "byte")));
  curve->points.insert(at, std::move(point));
}

std::vector<Chart> CurveTable::finish() {
  if (charts_.empty()) throw InputError("the table has no row with a time; run torus sweep, for instance");
  return std::move(charts_);
}

std::vector<Chart> read_curves(const std::string& path) {
  detail::Lines lines(path, detail::Lines::table);
  const auto read = [&](auto&& part) {
    try {
      return part();
    } catch (const InputError& error) {
      lines.refuse(error.what());
    }
  };
  const auto names = lines.next();
  if (!names) lines.refuse("the file is empty; it must be a table that torus sweep, compare or bench wrote with --csv");
  CurveTable table = read([&] { return CurveTable(*names); });
  while (const auto line = lines.next()) {
    if (!line->empty()) read([&] { return table.row(*line); });
  }
  return read([&] { return table.finish(); });
}

std::vector<Chart> curves_of(std::string_view csv) {
  const auto next = [&] {
    const auto end = csv.find('\n');
    const std::string_view line = csv.substr(0, end);
    csv.remove_prefix(end == std::string_view::npos ? csv.size() : end + 1);
    return line;
  };
  CurveTable table(next());
  while (!csv.empty()) table.row(next());
  return table.finish();
}

std::vector<Chart> only(std::vector<Chart> charts, std::string_view option, const std::string& names) {
  std::vector<std::string_view> all;
  for (const Chart& chart : charts) {
    for (const Curve& curve : chart.curves) {
      if (std::find(all.begin(), all.end(), curve.algorithm) == all.end()) all.emplace_back(curve.algorithm);
    }
  }
  const auto wanted = split(names, ',');
  for (const std::string_view name : wanted) {
    if (std::find(all.begin(), all.end(), name) == all.end())
      refuse(option, name, fmt::format("the table has no such algorithm; for instance {}", all.front()));
  }
  for (Chart& chart : charts)
    std::erase_if(chart.curves, [&](const Curve& c) { return std::find(wanted.begin(), wanted.end(), c.algorithm) == wanted.end(); });
  std::erase_if(charts, [](const Chart& chart) { return chart.curves.empty(); });
  return charts;
}

std::vector<Chart> only_on(std::vector<Chart> charts, std::string_view option, const std::string& shapes) {
  const auto wanted = split(shapes, ',');
  for (const std::string_view shape : wanted) {
    if (std::none_of(charts.begin(), charts.end(), [&](const Chart& chart) { return chart.shape == shape; }))
      refuse(option, shape, fmt::format("the table has no such shape; for instance {}", charts.front().shape));
  }
  std::erase_if(charts, [&](const Chart& chart) { return std::find(wanted.begin(), wanted.end(), chart.shape) == wanted.end(); });
  return charts;
}

CurveFiles::CurveFiles(const std::optional<std::string>& page, const std::optional<std::string>& svg) {
  if (page) page_.emplace(*page);
  if (svg) svg_.emplace(*svg);
}

void CurveFiles::check(std::size_t charts) const {
  const std::string these = fmt::format("one for each shape and machine, and these are {}; choose fewer", charts);
  if (page_ && charts > CurveTable::max_charts)
    refuse("--html", page_->path(), fmt::format("a page shows at most {} charts, {}", CurveTable::max_charts, these));
  if (svg_ && charts > max_figure_charts)
    refuse(
        "--svg", svg_->path(),
        fmt::format("a figure shows at most {} charts, {}, or a page, which shows {}", max_figure_charts, these, CurveTable::max_charts));
}

void CurveFiles::write(const std::vector<Chart>& charts) {
  if (page_) page_->write(curves_page(charts));
  if (page_) page_->commit();
  check(charts.size());
  if (svg_) svg_->write(curves_svg(charts));
  if (svg_) svg_->commit();
}

std::optional<double> time_of(const CurvePoint& point, TimeKind kind) noexcept {
  const double time = kind == TimeKind::model ? point.model_time_s : point.wall_s.value_or(0);
  return time > 0 && !point.failed ? std::optional(time) : std::nullopt;
}

std::vector<Crossing> crossings_of(const Chart& chart, TimeKind kind) {
  const Places place(chart);
  std::vector<Track> tracks;
  for (const Curve& curve : chart.curves) tracks.emplace_back(curve, kind, place);
  std::vector<Crossing> crossings;
  for (std::size_t a = 0; a < tracks.size(); ++a) {
    for (std::size_t b = a + 1; b < tracks.size(); ++b) {
      each_crossing(tracks[a], tracks[b], [&](double x, double y, bool a_first) {
        Crossing crossing{a_first ? a : b, a_first ? b : a, std::exp2(x), std::exp(y)};
        for (std::size_t c = 0; c < tracks.size(); ++c) {
          const auto other = c == a || c == b ? std::nullopt : tracks[c].at(x);
          if (other && *other < y - 1e-9) crossing.faster.push_back(c);
        }
        crossings.push_back(std::move(crossing));
      });
    }
  }
  if (crossings.size() > max_crossings) {
    std::stable_sort(crossings.begin(), crossings.end(),
                     [](const Crossing& l, const Crossing& r) { return l.faster.size() < r.faster.size(); });
    crossings.resize(max_crossings);
  }
  std::stable_sort(crossings.begin(), crossings.end(), [](const Crossing& l, const Crossing& r) { return l.bytes < r.bytes; });
  return crossings;
}

}  // namespace torus::command
