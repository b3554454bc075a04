#include "algorithms/broadcast_bound.hpp"

#include <algorithm>
#include <cmath>

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
  const LeastLoad load(points, least_steps, most);
  double best = time(std::max(least_steps, most + 1), points.least_load);  // of all numbers of steps above `most`
  for (std::uint64_t after = least_steps, steps = least_steps; steps <= most && time(after, points.least_load) < best;) {
    best = std::min(best, time(after, std::max(points.least_load, load.at(steps))));  // of after .. steps
    after = steps + 1;
    steps += 1 + (steps - least_steps) / 50;
  }
  return best;
}

}  // namespace torus
