// SPDX-License-Identifier: MIT
#include "algorithms/multinode_broadcast/forecast.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace torus::multinode {

double assumed_sources(const Machine& machine, const Request& request) noexcept {
  const double nodes = machine.topology.nodes();
  if (request.expected_sources) return std::clamp(*request.expected_sources, 0.0, nodes);
  return std::sqrt(nodes);
}

double fullest(double mean, double variables, double cap) noexcept {
  if (mean <= 0) return 0;
  if (mean >= cap) return cap;
  if (mean > 300) return std::min(cap, mean + std::sqrt(2 * mean * std::log(std::max(2.0, variables))));
  double term = std::exp(-mean), tail = 1 - term;  // P(X = x), P(X > x)
  double x = 0;
  while (variables * tail > 0.69 && x < cap) {  // P(all <= x) = exp(-variables * tail) reaches one half
    ++x;
    term *= mean / x;
    tail -= term;
  }
  return std::min(x, cap);
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

std::string steps_and_bytes(double steps, double bytes) { return decimal(steps) + " steps + " + decimal(bytes) + " B"; }

}  // namespace torus::multinode
