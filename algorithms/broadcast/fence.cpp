#include "algorithms/broadcast/fence.hpp"

#include <optional>

#include "algorithms/broadcast/segment_count.hpp"

namespace torus::broadcast {
namespace {

/// The ages at which a segment of a fence is on its way: the numbers of steps after step s in which segment s moves somewhere.
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
    // Segments of this fence have the parity of `first`, so their ages have the parity of the oldest segment's.
    const std::uint64_t age = t - first;
    std::uint64_t row = age;
    if (row >= latest_.size()) row = latest_.size() - 1 - (latest_.size() - 1 - age) % 2;
    if (!latest_[row] || t - *latest_[row] > last) return std::nullopt;
    return t - *latest_[row];
  }

 private:
  void mark(std::uint64_t age) { latest_[age] = age; }

  std::vector<std::optional<std::uint64_t>> latest_;  // by t: the largest age <= t of t's parity at which a segment moves
};

}  // namespace

ByteSum fence_channel_bytes(std::uint32_t r, std::uint32_t c, Bytes bytes, std::uint64_t segments) {
  const Travel even(r, c);
  const Travel odd(c, r);
  // The longer segments come first: the first one on its way is the longest.
  const auto first_moving = [&](std::uint64_t t) {
    const std::uint64_t last = segments - 1;
    return std::min(even.segment(t, 0, last).value_or(segments), odd.segment(t, 1, last).value_or(segments));
  };
  ByteSum sum = 0;
  const auto add = [&](std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t t = from; t < to; ++t) {
      if (const std::uint64_t s = first_moving(t); s < segments) sum += times_bytes(1, bytes_of_segments(bytes, segments, s, s + 1));
    }
  };
  const std::uint64_t steps = fence_steps(r, c, segments);
  const std::uint64_t full = std::uint64_t{r} + c + 2;  // no segment travels longer: from here on all ages occur
  if (segments <= full) {
    add(0, steps);
    return sum;
  }
  add(0, full);
  for (const std::uint64_t t : {full, full + 1}) {  // steps t, t + 2, .. while segments start: each is like the one before, two segments on
    const std::uint64_t count = (segments - t + 1) / 2;
    const std::uint64_t age = t - first_moving(t);
    const std::uint64_t last_longer = std::min(segments, bytes % segments + age);  // in steps before this the first one moving is longer
    sum += times_bytes(count, bytes / segments) + (last_longer > t ? times_bytes((last_longer - t + 1) / 2, 1) : 0);
  }
  add(segments, steps);
  return sum;
}

}  // namespace torus::broadcast
