#include "algorithms/bounds/broadcast_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace torus {
namespace {

double growth_load(const BroadcastPoints& points, std::uint64_t least_steps, std::uint64_t steps) {
  const double r = points.ports + 1;
  double sum = 0, early = 0, before = 1;
  for (std::uint64_t t = 1; t <= steps; ++t) {
    const double nodes = std::max(1.0, static_cast<double>(points.nodes) / std::pow(r, static_cast<double>(steps - t)));
    const double load = (nodes - before) / std::pow(r, static_cast<double>(t - 1));
    before = nodes;
    sum += load;
    if (t <= steps - least_steps + 1) early += load;
  }
  return sum + std::max(0.0, 1 - early) * (1 - 1 / r);
}

constexpr std::int32_t most_rows = 1024;
constexpr double price_unit = 1 << 16;  // of the dearest step

/// Cells of a machine, and what a node sends out of its own.
struct Cells {
  std::int64_t count;
  std::int64_t rows;
  std::int64_t channels;  // D
};

/// The least sum over t of l_t (r(t) - D s(t-1)) of a cell that holds `first` informed nodes at the start and is full at the end.
/// Backwards over the steps, for all numbers of informed nodes at once: with u = min(rows, 3s + r) after a step, l (u - 3s) is paid for the
/// messages from outside, whatever u at or above 3s is chosen.
class Filling {
 public:
  explicit Filling(const Cells& cells) : cells_{cells}, value_(static_cast<std::size_t>(cells.rows) + 1), cheapest_(value_.size()) {}

  /// The least value, of the cell of the source and all others together.
  std::int64_t least(const std::vector<std::int64_t>& prices) {
    std::fill(value_.begin(), value_.end(), unreachable);
    value_.back() = 0;
    for (std::size_t t = prices.size(); t-- > 0;) before(prices[t]);
    return value_[1] + (cells_.count - 1) * value_[0];
  }

 private:
  static constexpr std::int64_t unreachable = std::numeric_limits<std::int64_t>::max() / 4;

  void before(std::int64_t price) {
    std::int64_t best = unreachable;  // of the value after the step and what its nodes cost, over all u from here on
    for (std::int64_t u = cells_.rows; u >= 0; --u) {
      best = std::min(best, value_[static_cast<std::size_t>(u)] + price * u);
      cheapest_[static_cast<std::size_t>(u)] = best;
    }
    for (std::int64_t s = 0; s <= cells_.rows; ++s) {
      const std::int64_t grown = std::min(3 * s, cells_.rows);
      value_[static_cast<std::size_t>(s)] = cheapest_[static_cast<std::size_t>(grown)] - price * (grown + cells_.channels * s);
    }
  }

  Cells cells_;
  std::vector<std::int64_t> value_, cheapest_;  // by informed nodes
};

/// Whether some prices show that so many steps are too few. Hill climbing: the minimum is a concave function of the prices.
bool refuted(const Cells& cells, std::uint64_t steps) {
  Filling filling(cells);
  std::vector<double> prices(steps);
  const auto gain = [&](const std::vector<double>& tried) {
    const double dearest = *std::max_element(tried.begin(), tried.end());
    std::vector<std::int64_t> whole(tried.size());
    std::transform(tried.begin(), tried.end(), whole.begin(),
                   [&](double price) { return static_cast<std::int64_t>(std::llround(price / dearest * price_unit)); });
    return static_cast<double>(filling.least(whole));
  };
  // A node that is informed earlier is worth as many times more as there will be of it.
  const double worth = static_cast<double>(3 + cells.channels);
  for (std::size_t t = 0; t < prices.size(); ++t) prices[t] = std::pow(worth, -static_cast<double>(t));
  double best = gain(prices);
  for (double change = 2; change > 1.01 && best <= 0; change = std::sqrt(change)) {
    for (std::size_t t = 0; t < prices.size() && best <= 0; ++t) {
      for (const double factor : {change, 1 / change}) {
        std::vector<double> tried = prices;
        tried[t] *= factor;
        const double now = gain(tried);
        if (now <= best) continue;
        best = now;
        prices = std::move(tried);
        break;
      }
    }
  }
  return best > 0;
}

}  // namespace

Windows::Windows(const BroadcastPoints& points, std::uint64_t least_steps, std::uint64_t most_steps, bool first)
    : least_steps_{least_steps}, first_{first}, gamma_(least_steps + 1, 1), lambda_{0, 1}, sum_{0, 1} {
  const double n = static_cast<double>(points.nodes);
  double holders = 1;
  for (std::size_t i = 0; i < least_steps; ++i) {
    gamma_[i] = std::min(1.0, holders / (n - 1));
    holders = std::min(n, holders * (points.ports + 1));
    if (i + 1 < points.within.size()) holders = std::min(holders, points.within[i + 1]);
  }
  for (std::uint64_t t = 2; t <= most_steps; ++t) {
    lambda_.push_back(gain(t - 1, t, t) / (1 - gamma_[0]));
    sum_.push_back(sum_.back() + lambda_.back());
  }
}

double Windows::gain(std::uint64_t from, std::uint64_t to, std::uint64_t before) const noexcept {
  double sum = (weight(1, to) - weight(1, from)) * lambda_[1];
  // T steps after its own a window weighs all alike.
  for (std::uint64_t s = std::max<std::uint64_t>(2, from - std::min(from, least_steps_)); s < before; ++s)
    sum += (weight(s, to) - weight(s, from)) * lambda_[s];
  return sum;
}

double Windows::multiplier_of_last(std::uint64_t steps) const noexcept {
  const std::uint64_t end = count(steps, true);
  return gain(end, steps, end + 1);
}

double Windows::load(std::uint64_t steps, bool last) const noexcept {
  const double sum = sum_[count(steps, last)];
  const double of_last = last ? multiplier_of_last(steps) : 0;
  return (sum + of_last) / (weight(1, 1) + sum - lambda_[1] + of_last);
}

LeastLoad::LeastLoad(const BroadcastPoints& points, std::uint64_t least_steps, std::uint64_t most_steps)
    : points_{points}, least_steps_{least_steps} {
  if (points.nodes <= 2) return;
  for (const bool first : {false, true}) windows_.emplace_back(points, least_steps, most_steps, first);
}

double LeastLoad::at(std::uint64_t steps) const {
  double load = 1;
  for (const Windows& windows : windows_) {
    for (const bool last : {false, true}) load = std::max(load, windows.load(steps, last));
  }
  if (!windows_.empty() && points_.within.empty() && steps <= least_steps_ + 3)
    load = std::max(load, growth_load(points_, least_steps_, steps));
  return std::max(1.0, load * (1 - 1e-9));  // rounded down
}

double broadcast_time_s(const BroadcastPoints& points, std::uint64_t least_steps, std::uint64_t route_hops, const CostModel& cost) {
  constexpr std::uint64_t most = 1024;
  const double unit = static_cast<double>(points.bytes) / points.ports;
  const double unit_s = unit * points.byte_s.value_or(cost.byte_s);
  const auto time = [&](std::uint64_t steps, double least) {
    return cost.timed_steps(static_cast<double>(steps), least * unit_s, static_cast<double>(route_hops));
  };
  std::optional<LeastLoad> load;  // for up to `known` steps: of a short message few are looked at

  double best = time(std::max(least_steps, most + 1), points.least_load);  // of all numbers of steps above `most`
  for (std::uint64_t known = 0, after = least_steps, steps = least_steps; steps <= most && time(after, points.least_load) < best;) {
    if (steps > known) load.emplace(points, least_steps, known = std::min(most, 2 * steps + 16));
    best = std::min(best, time(after, std::max(points.least_load, load->at(steps))));  // of after .. steps
    after = steps + 1;
    steps += 1 + (steps - least_steps) / 50;
  }
  return best;
}

std::uint64_t least_ordered_steps(const Machine& machine, std::uint64_t least) {
  const Topology& topology = machine.topology;
  if (machine.switching != Switching::wormhole || machine.contention == Contention::share || !is_torus_or_mesh(topology) ||
      topology.twisted())
    return least;
  Cells cells{.count = 1, .rows = 1, .channels = 0};
  for (const Dimension d : machine.routing) {  // in the order of routes
    const std::int64_t extent = topology.extent(d);
    if (extent == 1) continue;
    if (cells.rows > 1) cells.channels += 2;
    cells.count *= cells.rows;
    cells.rows = extent;
  }
  if (cells.rows > most_rows) return least;
  while (refuted(cells, least)) ++least;
  return least;
}

}  // namespace torus
