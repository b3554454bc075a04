// SPDX-License-Identifier: MIT
#include "algorithms/broadcast/fence.hpp"

#include <optional>

#include "algorithms/broadcast/segment_count.hpp"

namespace torus::broadcast {
namespace {

/// After which number of steps a segment of a fence is on its way somewhere, counted from its own number; as a table by steps.
class Travel {
 public:
  /// Fence 1 of an r x c mesh; fence 2 is fence 1 of the transposed one.
  Travel(std::uint32_t r, std::uint32_t c) : latest_(r + c + 2) {
    for (std::uint32_t j = 1; j < c; ++j) mark(fence_step(c, 0, j, 0));
    for (std::uint32_t sum = 2; sum <= r - 1 + c - 1; ++sum) mark(sum);  // i + j of the nodes with i, j >= 1
    for (std::uint32_t i = 1; i < r; ++i) mark(fence_step(c, i, 0, 0));
    for (std::size_t t = 2; t < latest_.size(); ++t) {
      if (!latest_[t]) latest_[t] = latest_[t - 2];
    }
  }

  /// The first of the segments first, first + 2, .. <= last that is on its way in step t.
  std::optional<std::uint64_t> segment(std::uint64_t t, std::uint64_t first, std::uint64_t last) const {
    if (t < first) return std::nullopt;
    // Segments of this fence have the parity of `first`: look among the ages of the same parity as the oldest segment's.
    const std::uint64_t age = t - first;
    std::uint64_t slot = age;
    if (slot >= latest_.size()) slot = latest_.size() - 1 - (latest_.size() - 1 - age) % 2;
    if (!latest_[slot] || t - *latest_[slot] > last) return std::nullopt;
    return t - *latest_[slot];
  }

 private:
  void mark(std::uint64_t age) { latest_[age] = age; }

  std::vector<std::optional<std::uint64_t>> latest_;  // by steps t: the greatest age <= t of t's parity at which a segment moves
};

}  // namespace

Bytes fence_channel_bytes(std::uint32_t r, std::uint32_t c, Bytes bytes, std::uint64_t segments) {
  const Travel even(r, c);
  const Travel odd(c, r);
  Bytes sum = 0;
  for (std::uint64_t t = 0, steps = fence_steps(r, c, segments); t < steps; ++t) {
    // The longer segments come first, so that the first one on its way is the longest.
    std::uint64_t first = segments;
    if (const auto s = even.segment(t, 0, segments - 1)) first = std::min(first, *s);
    if (const auto s = odd.segment(t, 1, segments - 1)) first = std::min(first, *s);
    if (first < segments) sum += bytes_of_segments(bytes, segments, first, first + 1);
  }
  return sum;
}

}  // namespace torus::broadcast
