#include "algorithms/lines/spread.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "algorithms/common/integers.hpp"

namespace torus::lines {

namespace {

/// The offsets, with the root's.
std::vector<std::int32_t> with_root(std::vector<std::int32_t> offsets) {
  if (offsets.empty() || offsets.front() != 0) offsets.insert(offsets.begin(), 0);
  return offsets;
}

/// Those on a mesh line, with `root` places behind the root.
std::int32_t behind(const std::vector<std::int32_t>& offsets, std::int32_t n, std::int32_t root) {
  return static_cast<std::int32_t>(offsets.end() - std::lower_bound(offsets.begin(), offsets.end(), n - root));
}

}  // namespace

LineSpread::LineSpread(std::vector<std::int32_t> line, std::int32_t n, Ways ways, std::int32_t behind)
    : line_{std::move(line)}, n_{n}, ways_{ways}, root_{behind} {
  for (auto back = line_.end() - root_; back != line_.end(); ++back) *back -= n;
  std::rotate(line_.begin(), line_.end() - root_, line_.end());
  const auto side = static_cast<std::uint64_t>(std::max(root_, places() - 1 - root_));
  steps_ = ways == Ways::both ? ceil_log(3, 2 * side + 1) : ways == Ways::forward ? ceil_log(2, side + 1) : side > 0 ? 1 : 0;
}

// The farther half of the places is nearer by going back.
LineSpread::LineSpread(const std::vector<std::int32_t>& offsets, std::int32_t n, Ways ways)
    : LineSpread(with_root(offsets), n, ways, ways == Ways::both ? (static_cast<std::int32_t>(with_root(offsets).size()) - 1) / 2 : 0) {}

LineSpread LineSpread::on_line(const std::vector<std::int32_t>& offsets, std::int32_t n, std::int32_t root) {
  return {with_root(offsets), n, Ways::both, behind(with_root(offsets), n, root)};
}

LineSpread LineSpread::over_ring(std::int32_t n, Ways ways) {
  std::vector<std::int32_t> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  return LineSpread(all, n, ways);
}

LineSpread LineSpread::over_complete(std::int32_t n) { return over_ring(n, Ways::complete); }

LineSpread LineSpread::over_line(std::int32_t n, std::int32_t root) {
  std::vector<std::int32_t> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  return on_line(all, n, root);
}

LineSpread::Division LineSpread::divide(const Stretch& stretch, Step step) const noexcept {
  if (ways_ == Ways::complete) return {{stretch.holder, stretch.holder, stretch.holder}, {0, -1, 0}, {0, -1, 0}};
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

}  // namespace torus::lines
