/// The displacements of a ring as sums of weights, each taken forwards, backwards or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace torus::exchange {

/// An immutable value. Weights 1, 3, 9, .., 3^(L-2) and ceil((n - 3^(L-1))/2), L = ceil(log_3 n), none for n = 1: the last takes the sums
/// of the others, -(3^(L-1)-1)/2 .. (3^(L-1)-1)/2, to both sides, and the three stretches cover the ring.
class TernaryRing {
 public:
  /// +1, -1 or 0 by weight.
  using Digits = std::vector<std::int8_t>;

  /// Of n >= 1 places. O(n log n).
  explicit TernaryRing(std::int32_t n);

  std::size_t weights() const noexcept { return weights_.size(); }
  std::int32_t weight(std::size_t i) const noexcept { return weights_[i]; }
  /// The sums of the fewest hops for a displacement in 0..n-1; none on a ring of one.
  const std::vector<Digits>& sums(std::int32_t displacement) const noexcept { return sums_[static_cast<std::size_t>(displacement)]; }

 private:
  void find_sums(std::int32_t displacement, std::int32_t n, std::int32_t reach);

  std::vector<std::int32_t> weights_;
  std::vector<std::vector<Digits>> sums_;  // by displacement
};

}  // namespace torus::exchange
