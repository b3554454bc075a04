#include "algorithms/broadcast/line_spread.hpp"

#include <algorithm>
#include <numeric>

#include "algorithms/common/integers.hpp"

namespace torus::broadcast {

LineSpread::LineSpread(const std::vector<std::int32_t>& offsets, std::int32_t n, Ways ways) : line_{offsets}, n_{n}, ways_{ways} {
  if (line_.empty() || line_.front() != 0) line_.insert(line_.begin(), 0);
  root_ = ways == Ways::both ? (places() - 1) / 2 : 0;  // so many places are nearer by going back
  for (auto back = line_.end() - root_; back != line_.end(); ++back) *back -= n;
  std::rotate(line_.begin(), line_.end() - root_, line_.end());
  steps_ = ceil_log(ways == Ways::both ? 3 : 2, line_.size());
}

LineSpread LineSpread::over_ring(std::int32_t n, Ways ways) {
  std::vector<std::int32_t> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  return {all, n, ways};
}

LineSpread::Division LineSpread::divide(const Stretch& stretch, Step step) const noexcept {
  if (ways_ == Ways::forward) {
    const std::int32_t middle = stretch.low + (stretch.high - stretch.low + 2) / 2;
    return {{stretch.low, middle - 1, stretch.low}, {0, -1, 0}, {middle, stretch.high, middle}};
  }
  std::int64_t served = 1;  // places that one holder reaches in the steps after this one
  for (Step t = step + 1; t < steps_; ++t) served *= 3;
  const auto keep = static_cast<std::int32_t>((served - 1) / 2);
  const std::int32_t low = std::max(stretch.low, stretch.holder - keep);
  const std::int32_t high = std::min(stretch.high, stretch.holder + keep);
  return {{low, high, stretch.holder},
          {stretch.low, low - 1, (stretch.low + low - 1) / 2},
          {high + 1, stretch.high, (high + 1 + stretch.high) / 2}};
}

std::int32_t LineSpread::index_of(std::int32_t offset) const noexcept {
  for (const std::int32_t signed_offset : {offset, offset - n_}) {
    const auto found = std::lower_bound(line_.begin(), line_.end(), signed_offset);
    if (found != line_.end() && *found == signed_offset) return static_cast<std::int32_t>(found - line_.begin());
  }
  return -1;
}

}  // namespace torus::broadcast
