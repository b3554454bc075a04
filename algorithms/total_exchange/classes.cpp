#include "algorithms/total_exchange/classes.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "algorithms/common/integers.hpp"

namespace torus::total_exchange {

Offsets::Offsets(const Topology& topology) : nodes_{topology.nodes()} {
  for (Dimension d = 0; d < topology.dimensions(); ++d) {
    if (topology.extent(d) > 1) turn_.push_back(static_cast<std::uint32_t>(topology.extent(d)) * topology.stride(d));
  }
  parts_.reserve(std::size_t{nodes_} * turn_.size());
  for (NodeId x = 0; x < nodes_; ++x) {
    for (Dimension d = 0; d < topology.dimensions(); ++d) {
      if (topology.extent(d) > 1) parts_.push_back(static_cast<std::uint32_t>(topology.coordinate(x, d)) * topology.stride(d));
    }
  }
}

TernaryRing::TernaryRing(std::int32_t n) : sums_(static_cast<std::size_t>(n)) {
  const std::uint32_t count = ceil_log(3, static_cast<std::uint64_t>(n));
  if (count == 0) return;
  std::int32_t power = 1;
  for (std::uint32_t i = 0; i + 1 < count; ++i, power *= 3) weights_.push_back(power);
  weights_.push_back((n - power + 1) / 2);
  for (std::int32_t displacement = 0; displacement < n; ++displacement) find_sums(displacement, n, (power - 1) / 2);
}

/// `reach`: the greatest sum without the last weight.
void TernaryRing::find_sums(std::int32_t displacement, std::int32_t n, std::int32_t reach) {
  std::vector<Digits>& sums = sums_[static_cast<std::size_t>(displacement)];
  std::int32_t least = n;
  for (const std::int32_t signed_hops : {displacement, displacement - n}) {
    for (const int last : {0, +1, -1}) {
      std::int32_t rest = signed_hops - last * weights_.back();
      if (std::abs(rest) > reach) continue;
      Digits digits;  // of the rest, in balanced ternary: there is one way
      std::int32_t hops = std::abs(last) * weights_.back();
      for (std::size_t i = 0; i + 1 < weights_.size(); ++i) {
        const int digit = modulo(rest + 1, 3) - 1;
        digits.push_back(static_cast<std::int8_t>(digit));
        hops += std::abs(digit) * weights_[i];
        rest = (rest - digit) / 3;
      }
      digits.push_back(static_cast<std::int8_t>(last));
      if (hops < least) sums.clear();
      least = std::min(least, hops);
      if (hops == least) sums.push_back(std::move(digits));
    }
  }
}

}  // namespace torus::total_exchange
