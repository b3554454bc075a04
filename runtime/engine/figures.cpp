#include "runtime/engine/figures.hpp"

#include <cmath>
#include <fmt/format.h>

namespace torus {

std::string grouped(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string seconds_text(double seconds) {
  const double size = std::abs(seconds);
  if (size == 0) return "0 s";
  if (size < 1e-6) return fmt::format("{:.3g} ns", seconds * 1e9);
  if (size < 1e-3) return fmt::format("{:.4g} us", seconds * 1e6);
  if (size < 1) return fmt::format("{:.4g} ms", seconds * 1e3);
  return fmt::format("{:.4g} s", seconds);
}

std::string rate_text(double per_second, std::string_view unit) {
  if (!std::isfinite(per_second)) return "-";
  if (per_second >= 1e9) return fmt::format("{:.3g} G{}/s", per_second / 1e9, unit);
  if (per_second >= 1e6) return fmt::format("{:.3g} M{}/s", per_second / 1e6, unit);
  if (per_second >= 1e3) return fmt::format("{:.3g} k{}/s", per_second / 1e3, unit);
  return fmt::format("{:.3g} {}/s", per_second, unit);
}

double per_second(double amount, double seconds) noexcept { return seconds > 0 ? amount / seconds : 0; }

std::string node_text(const Topology& topology, NodeId node) {
  std::string text = "(";
  for (Dimension d = 0; d < topology.dimensions(); ++d) text += (d > 0 ? "," : "") + std::to_string(topology.coordinate(node, d));
  return text + ")";
}

}  // namespace torus
