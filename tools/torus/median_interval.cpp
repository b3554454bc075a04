#include "tools/torus/median_interval.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace torus::command {

std::optional<std::pair<double, double>> median_interval(std::vector<double> values) {
  // The k-th smallest is above the median if fewer than k values are below it: the lower tail of the binomial distribution of n tosses.
  // By logarithms, since 2^-n of many values is no double.
  // lgamma() writes the sign of its result to a variable that nobody reads.
  // NOLINTBEGIN(concurrency-mt-unsafe)
  const auto n = static_cast<double>(values.size());
  const auto toss = [n](double below) {
    return std::exp(std::lgamma(n + 1) - std::lgamma(below + 1) - std::lgamma(n - below + 1) - n * std::log(2.0));
  };
  // NOLINTEND(concurrency-mt-unsafe)
  std::size_t k = 0;
  for (double tail = toss(0); k < values.size() / 2 && 2 * tail <= 0.05; tail += toss(static_cast<double>(k))) ++k;
  if (k == 0) return std::nullopt;
  std::sort(values.begin(), values.end());
  return std::pair(values[k - 1], values[values.size() - k]);
}

}  // namespace torus::command
