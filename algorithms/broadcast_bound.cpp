#include "algorithms/broadcast_bound.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

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

Windows::Windows(const BroadcastPoints& points, std::uint64_t least_steps, bool first)
    : least_steps_{least_steps}, first_{first}, gamma_(least_steps + 1, 1) {
  const double n = static_cast<double>(points.nodes);
  double holders = 1;
  for (std::size_t i = 0; i < least_steps; ++i) {
    gamma_[i] = std::min(1.0, holders / (n - 1));
    holders = std::min(n, holders * (points.ports + 1));
    if (i + 1 < points.within.size()) holders = std::min(holders, points.within[i + 1]);
  }
}

Windows::Multipliers Windows::multipliers(std::uint64_t steps, bool last) const {
  const std::uint64_t end = last ? steps - least_steps_ + 1 : steps;
  Multipliers found{std::vector<double>(end, 1)};
  // By how much the windows 1 .. before - 1 weigh step t more than the step before it. T steps after its own a window weighs all alike.
  const auto gain = [&](std::uint64_t t, std::uint64_t before) {
    double sum = (weight(1, t) - weight(1, t - 1)) * found.windows[0];
    const std::uint64_t from = t > least_steps_ + 2 ? t - least_steps_ : 2;
    for (std::uint64_t s = from; s < before; ++s) sum += (weight(s, t) - weight(s, t - 1)) * found.windows[s - 1];
    return sum;
  };
  for (std::uint64_t t = 2; t <= end; ++t) found.windows[t - 1] = gain(t, t) / (1 - gamma_[0]);
  for (std::uint64_t t = end + 1; t <= steps; ++t) found.last += gain(t, end + 1);
  const double sum = std::accumulate(found.windows.begin(), found.windows.end(), 0.0);
  found.load = (sum + found.last) / (weight(1, 1) + sum - found.windows[0] + found.last);
  return found;
}

double least_load(const BroadcastPoints& points, std::uint64_t least_steps, std::uint64_t steps) {
  if (points.nodes <= 2) return 1;
  double load = 1;
  for (const bool first : {false, true}) {
    const Windows windows(points, least_steps, first);
    for (const bool last : {false, true}) load = std::max(load, windows.multipliers(steps, last).load);
  }
  if (points.within.empty() && steps <= least_steps + 3) load = std::max(load, growth_load(points, least_steps, steps));
  return std::max(1.0, load * (1 - 1e-9));  // rounded down
}

double broadcast_time_s(const BroadcastPoints& points, std::uint64_t least_steps, std::uint64_t route_hops, const CostModel& cost) {
  constexpr std::uint64_t most = 1024;
  const double unit = static_cast<double>(points.bytes) / points.ports;
  const auto time = [&](std::uint64_t steps, double load) {
    return cost.steps(static_cast<double>(steps), load * unit, static_cast<double>(route_hops));
  };
  double best = time(std::max(least_steps, most + 1), 1);  // of all numbers of steps above `most`
  for (std::uint64_t after = least_steps, steps = least_steps; steps <= most && time(after, 1) < best;) {
    best = std::min(best, time(after, least_load(points, least_steps, steps)));  // of after .. steps
    after = steps + 1;
    steps += 1 + (steps - least_steps) / 50;
  }
  return best;
}

}  // namespace torus
