/// Where curves cross.
#include <algorithm>
#include <cmath>

#include "tools/torus/curves.hpp"

namespace torus::command {
namespace {

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
