#include "algorithms/ordered_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace torus {
namespace {

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

  /// Of the cell of the source and all others together.
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
  const double growth = static_cast<double>(3 + cells.channels);
  for (std::size_t t = 0; t < prices.size(); ++t) prices[t] = std::pow(growth, -static_cast<double>(t));
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
