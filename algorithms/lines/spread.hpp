/// Spreads a message from the root of a ring over some of its places, one message each way a holder and step, or one message in all.
///
/// Both ways: the places and the root lie on a line with the root in its middle. A holder keeps as much of the line around it as can still
/// be served in one step less, (3^(t-1) - 1)/2 places each way, and sends to the middle of what is left over on either side. All that a
/// place serves is one stretch of the line, so the routes of a step are disjoint. A spread over n places takes ceil(log_3 n) steps, the
/// fewest. Routes go the way of the line, which is not always the shorter way round the ring. On a mesh line the root is where it is: with
/// s places on its longer side it takes ceil(log_3 (2s+1)) steps.
///
/// Forward only: the line starts with the root. A holder keeps the nearer half of its stretch and sends the rest to the first place there:
/// ceil(log_2 n) steps.
///
/// On a complete dimension the root sends to every place in one step.
#pragma once

#include <cstdint>
#include <vector>

#include <torus/machine.hpp>

namespace torus::lines {

/// In which directions messages go in a dimension: both ways, only forwards, or straight to every place of a complete dimension.
enum class Ways : std::uint8_t { both, forward, complete };

/// An immutable value.
class LineSpread {
 public:
  /// What a step asks of one place: a message over `hops` to the place that serves the line's indices low..high.
  struct StretchSend {
    std::int32_t hops, low, high;
  };

  /// Over the places of a ring of n that are `offsets` from the root: ascending, in 0..n-1. The root counts as a place, named or not.
  LineSpread(const std::vector<std::int32_t>& offsets, std::int32_t n, Ways ways = Ways::both);
  /// The same on a mesh line of n with the root at place `root`; offsets are modulo n.
  static LineSpread on_line(const std::vector<std::int32_t>& offsets, std::int32_t n, std::int32_t root);
  /// Over all places of a ring of n.
  static LineSpread over_ring(std::int32_t n, Ways ways = Ways::both);
  /// Over all places of a complete dimension of n.
  static LineSpread over_complete(std::int32_t n);
  /// Over all places of a mesh line of n, from place `root`.
  static LineSpread over_line(std::int32_t n, std::int32_t root);

  std::int32_t places() const noexcept { return static_cast<std::int32_t>(line_.size()); }
  Step steps() const noexcept { return steps_; }
  Ways ways() const noexcept { return ways_; }
  /// Signed places from the root to an index of the line.
  std::int32_t offset(std::int32_t index) const noexcept { return line_[static_cast<std::size_t>(index)]; }

  /// Calls f(send) for what the place at an offset in 0..n-1 sends in a step: at most once each way. O(log n).
  template <class F>
  void for_sends(std::int32_t offset, Step step, F&& f) const {
    const std::int32_t index = index_of(offset);
    if (index < 0 || step >= steps_) return;
    Stretch stretch = whole();
    for (Step t = 0; t < step; ++t) stretch = divide(stretch, t).of(index);
    if (stretch.holder == index) report(stretch, step, f);
  }
  /// Calls f(step, send) for all sends of all places.
  template <class F>
  void for_all_sends(F&& f) const {
    std::vector<Stretch> stretches{whole()};
    for (Step t = 0; t < steps_; ++t) {
      for (std::size_t i = 0, n = stretches.size(); i < n; ++i) {
        const Division parts = divide(stretches[i], t);
        report(stretches[i], t, [&](const StretchSend& send) { f(t, send); });
        stretches[i] = parts.kept;
        if (!parts.below.empty()) stretches.push_back(parts.below);
        if (!parts.above.empty()) stretches.push_back(parts.above);
      }
    }
  }

 private:
  /// Indices of the line that one place, the holder, is to serve.
  struct Stretch {
    std::int32_t low, high, holder;
    bool empty() const noexcept { return low > high; }
  };
  /// A stretch after one step: what its holder keeps, and what it gives away on either side.
  struct Division {
    Stretch kept, below, above;
    const Stretch& of(std::int32_t index) const noexcept { return index < kept.low ? below : index > kept.high ? above : kept; }
  };

  /// `behind`: how many of the line's places are behind the root.
  LineSpread(std::vector<std::int32_t> line, std::int32_t n, Ways ways, std::int32_t behind);
  Stretch whole() const noexcept { return {0, places() - 1, root_}; }
  Division divide(const Stretch& stretch, Step step) const noexcept;
  std::int32_t index_of(std::int32_t offset) const noexcept;  // -1: no place of the line

  template <class F>
  void report(const Stretch& stretch, Step step, F&& f) const {
    for (std::int32_t index = 1; ways_ == Ways::complete && index < places(); ++index) f(StretchSend{index, index, index});
    if (ways_ == Ways::complete) return;
    const Division parts = divide(stretch, step);
    for (const Stretch& given : {parts.below, parts.above}) {
      if (!given.empty()) f(StretchSend{offset(given.holder) - offset(stretch.holder), given.low, given.high});
    }
  }

  std::vector<std::int32_t> line_;  // signed offsets from the root, ascending
  std::int32_t n_;                  // places of the ring
  Ways ways_;
  std::int32_t root_;  // its index
  Step steps_;
};

}  // namespace torus::lines
