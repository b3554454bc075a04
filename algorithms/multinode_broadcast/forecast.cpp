#include "algorithms/multinode_broadcast/forecast.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace torus::multinode_broadcast {

double assumed_sources(const Machine& machine, const Request& request) noexcept {
  const double nodes = machine.topology.nodes();
  return request.expected_sources ? std::clamp(*request.expected_sources, 0.0, nodes) : machine.topology.living_nodes();
}

double most_sources(const Machine& machine, const Request& request) noexcept {
  return std::max(assumed_sources(machine, request), static_cast<double>(request.sources.size()));
}

double fullest(double mean, double variables, double cap) noexcept {
  if (mean <= 0) return 0;
  if (mean >= cap) return cap;
  double most = 0;
  if (mean > 300) {
    most = mean + std::sqrt(2 * mean * std::log(std::max(2.0, variables)));
  } else {
    double term = std::exp(-mean), tail = 1 - term;  // P(X = most), P(X > most)
    while (variables * tail > 0.69 && most < cap) {  // P(all <= most) = exp(-variables * tail) reaches one half
      ++most;
      term *= mean / most;
      tail -= term;
    }
    if (most == 0) return 0;
  }
  // Of `cap` nodes each is a source or not: the variance is smaller than Poisson's, and none if all are.
  const double spread = std::max(0.0, most - mean) * std::sqrt(1 - mean / cap);
  return std::min(cap, std::max(std::round(mean + spread), std::ceil(mean)));
}

std::vector<std::int32_t> divisors(std::int32_t n) {
  std::vector<std::int32_t> found;
  for (std::int32_t d = 1; d <= n; ++d) {
    if (n % d == 0) found.push_back(d);
  }
  return found;
}

std::string decimal(double value) {
  char text[32];
  std::snprintf(text, sizeof text, value < 1e15 && value == std::floor(value) ? "%.0f" : "%.4g", value);
  return text;
}

}  // namespace torus::multinode_broadcast
