#include "algorithms/broadcast/circuit/gap_sequence.hpp"

#include <algorithm>
#include <numeric>

#include <torus/error.hpp>

#include "algorithms/common/integers.hpp"

namespace torus::broadcast {
namespace {

constexpr std::int64_t cap_of(const GapCaps& caps, bool large) noexcept { return large ? caps.large : caps.small; }

/// Cuts a length into parts of alternate kinds in proportion to the caps, each odd as far as the length's parity allows. All begin at 1;
/// then the least full part takes 2 more, until less than 2 are left.
std::vector<std::int32_t> odd_parts(std::int32_t length, std::size_t parts, bool first_large, const GapCaps& caps) {
  std::vector<std::int32_t> sizes(parts, 1);
  const auto cap = [&](std::size_t i) { return cap_of(caps, first_large == (i % 2 == 0)); };
  std::int32_t left = length - static_cast<std::int32_t>(parts);
  while (left > 0) {
    const std::int32_t more = std::min(left, 2);
    std::size_t best = 0;
    for (std::size_t i = 1; i < parts; ++i) {
      if ((sizes[i] + more) * cap(best) < (sizes[best] + more) * cap(i)) best = i;
    }
    sizes[best] += more;
    left -= more;
  }
  return sizes;
}

}  // namespace

GapCaps gap_caps(GapBase base, std::int32_t ports, std::uint32_t steps) noexcept {
  GapCaps caps{1, base == GapBase::full ? 0 : 1};
  const std::int64_t h = ports / 2;
  for (; steps > 0; --steps) {
    const auto [e, o] = caps;
    caps = ports % 2 == 0 ? GapCaps{(h + 1) * e + h * o, h * e + (h + 1) * o} : GapCaps{(h + 2) * e + (h + 1) * o, h * e + (h + 1) * o};
  }
  return caps;
}

std::uint32_t expanding_steps(GapBase base, std::int32_t extent, std::int32_t m, std::int32_t ports) noexcept {
  const std::int64_t length = base == GapBase::full ? 2 * std::int64_t{extent} : 2 * std::int64_t{extent / 2};
  return ceil_log(static_cast<std::uint64_t>(ports) + 1, static_cast<std::uint64_t>(ceil_div<std::int64_t>(length, m)));
}

std::vector<std::int32_t> cut_gap(GapBase base, std::int32_t gap, bool large, std::int32_t ports, std::uint32_t steps) {
  const GapCaps caps = gap_caps(base, ports, steps);
  std::int32_t parts = ports % 2 == 0 ? ports + 1 : large ? ports + 2 : ports;
  if (base == GapBase::unit) {
    parts = std::min(parts, gap);
    return odd_parts(gap, static_cast<std::size_t>(parts - (parts % 2 == 0 ? 1 : 0)), large, caps);
  }
  if (gap <= cap_of(caps, large)) return {gap};
  // Each part's share of the gap is its cap's share of all caps: within the cap as long as the gap is within the sum.
  const std::int64_t half = parts / 2;
  const std::int64_t total = cap_of(caps, large) * (half + 1) + cap_of(caps, !large) * half;
  std::vector<std::int32_t> sizes;
  std::int64_t before = 0;
  std::int64_t start = 0;
  for (std::int32_t j = 0; j < parts; ++j) {
    before += cap_of(caps, large == (j % 2 == 0));
    const std::int64_t end = gap * before / total;
    sizes.push_back(static_cast<std::int32_t>(end - start));
    start = end;
  }
  return sizes;
}

GapSequence::GapSequence(std::int32_t extent, std::vector<std::int32_t> positions)
    : extent_{extent}, positions_{std::move(positions)}, index_(static_cast<std::size_t>(extent), -1) {
  TORUS_ASSERT(size() % 2 == 0 && positions_.front() == 0 && positions_.back() <= extent);
  for (std::int32_t i = size() - 1; i >= 0; --i) index_[static_cast<std::size_t>(position(i) % extent)] = i;
}

GapSequence GapSequence::spread(GapBase base, std::int32_t extent, std::int32_t m, std::int32_t ports) {
  const GapCaps caps = gap_caps(base, ports, expanding_steps(base, extent, m, ports));
  std::vector<std::int32_t> positions;
  if (base == GapBase::unit) {
    std::int32_t at = 0;
    for (const std::int32_t size : odd_parts(extent, static_cast<std::size_t>(m), true, caps)) {
      positions.push_back(at);
      at += size;
    }
    return {extent, std::move(positions)};
  }
  const std::int64_t pairs = m / 2;
  for (std::int64_t j = 0; j < pairs; ++j) {
    const std::int64_t start = extent * j / pairs;
    const std::int64_t period = extent * (j + 1) / pairs - start;
    const std::int64_t sum = caps.large + caps.small;
    const std::int64_t large = std::min(period - 1, (period * caps.large + sum - 1) / sum);
    positions.push_back(static_cast<std::int32_t>(start));
    positions.push_back(static_cast<std::int32_t>(start + large));
  }
  return {extent, std::move(positions)};
}

GapSequence GapSequence::consecutive(std::int32_t extent, std::int32_t m) {
  std::vector<std::int32_t> positions(static_cast<std::size_t>(m));
  std::iota(positions.begin(), positions.end(), 0);
  return {extent, std::move(positions)};
}

std::int32_t GapSequence::position(std::int32_t index) const noexcept {
  const std::int32_t m = size();
  const std::int32_t within = index % m < 0 ? index % m + m : index % m;
  return positions_[static_cast<std::size_t>(within)] + (index - within) / m * extent_;
}

std::vector<std::vector<std::int32_t>> GapSequence::cuts(GapBase base, std::int32_t ports, std::uint32_t steps_left) const {
  std::vector<std::vector<std::int32_t>> cuts;
  for (std::int32_t i = 0; i < size(); ++i) cuts.push_back(cut_gap(base, gap(i), i % 2 == 0, ports, steps_left));
  return cuts;
}

GapSequence GapSequence::refined(const std::vector<std::vector<std::int32_t>>& cuts) const {
  std::vector<std::int32_t> positions;
  std::int32_t at = 0;
  for (const std::vector<std::int32_t>& parts : cuts) {
    for (const std::int32_t size : parts) {
      positions.push_back(at);
      at += size;
    }
  }
  TORUS_ASSERT(at == extent_);
  return {extent_, std::move(positions)};
}

}  // namespace torus::broadcast
