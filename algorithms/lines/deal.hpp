/// Deals h pieces to the n places of a ring, so that a place that lacks a piece finds it near by on both sides.
///
/// The ring is split into floor(n/h) windows, as equal as whole numbers allow. Each has all pieces in order: place x of a window of l
/// places holds piece floor(x h / l), its class. n = 7, h = 3: 012 0012. h need not divide n.
///
/// The gather: a place takes each piece that it lacks from the nearer side, whole, or half of it from either side if both are as near. It
/// takes a piece in the step whose number is the distance, from its neighbour, which took it one step before. So a place takes one piece a
/// step and side at most. On a mesh line those near the ends take from one side. Forward only: it takes everything whole, from the - side.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include <torus/machine.hpp>
#include <torus/topology.hpp>

#include "algorithms/common/integers.hpp"
#include "algorithms/lines/spread.hpp"

namespace torus::lines {

/// An immutable value of O(1) size.
class RowClasses {
 public:
  /// 1 <= h <= n.
  RowClasses(std::int32_t n, std::int32_t h, Ways ways = Ways::both) noexcept : n_{n}, h_{h}, windows_{n, n / h}, ways_{ways} {}

  /// On a mesh line of n, where place 0 stands at `origin` and the places before it are those up to n-1.
  static RowClasses on_line(std::int32_t n, std::int32_t h, std::int32_t origin) noexcept {
    RowClasses classes(n, h);
    classes.wraps_ = false;
    classes.origin_ = origin;
    return classes;
  }

  /// On a complete dimension, a piece a place: every place gives its own to all others in one step.
  static RowClasses on_complete(std::int32_t n) noexcept { return {n, n, Ways::complete}; }

  std::int32_t classes() const noexcept { return h_; }
  std::int32_t class_of(std::int32_t place) const noexcept;
  /// Ascending.
  std::vector<std::int32_t> places_of(std::int32_t piece) const;

  enum class Share : std::uint8_t { whole, first_half, second_half };
  struct Take {
    std::int32_t piece;
    Share share;
    friend bool operator==(const Take&, const Take&) = default;
  };
  /// What a place takes in step `distance`, 1 or more, from its neighbour on the - side (direction -1) or + side (+1).
  std::optional<Take> taken(std::int32_t place, std::int32_t direction, std::int32_t distance) const noexcept;

  Ways ways() const noexcept { return ways_; }
  /// The longest gap that for_gaps() meets.
  std::int32_t longest_gap() const noexcept;
  /// Steps of the gather: the farthest that a nearest piece can be.
  Step gather_steps() const noexcept;
  /// No piece is ever split.
  bool pieces_stay_whole() const noexcept { return ways_ != Ways::both || (h_ % 2 == 1 && n_ % h_ == 0); }

  /// Calls f(piece, gap) for each piece and each two places next to each other among those that hold it, `gap` places apart; those of two
  /// windows only, as others have a gap of 1. Places before the first or after the last with a piece, on a line, count as the half of a gap
  /// of twice as many and one. O(n).
  template <class F>
  void for_gaps(F&& f) const {
    for (std::int32_t piece = 0; piece < h_; ++piece) {
      for (std::int32_t w = 0; w + 1 < windows_.parts; ++w) f(piece, gap_between(w, w + 1, piece));
      const std::int32_t last = windows_.parts - 1;
      if (wraps_) {
        f(piece, gap_between(last, 0, piece));
      } else {
        f(piece, 2 * std::max(first(0, piece), windows_.length(last) - end(last, piece)) + 1);
      }
    }
  }

 private:
  std::int32_t gap_between(std::int32_t w, std::int32_t next, std::int32_t piece) const noexcept {
    return windows_.length(w) - end(w, piece) + 1 + first(next, piece);
  }
  /// Where a place stands, counted from the start of the first window.
  std::int32_t index_of(std::int32_t place) const noexcept { return wraps_ ? place : modulo(place + origin_, n_); }
  /// The places of a piece in a window: from first to end - 1.
  std::int32_t first(std::int32_t w, std::int32_t piece) const noexcept {
    return static_cast<std::int32_t>((std::int64_t{piece} * windows_.length(w) + h_ - 1) / h_);
  }
  std::int32_t end(std::int32_t w, std::int32_t piece) const noexcept { return first(w, piece + 1); }
  std::int32_t class_at(std::int32_t index) const noexcept;
  /// From an index back or on to the nearest that holds the piece; 2n where there is none.
  std::int32_t distance(std::int32_t index, std::int32_t direction, std::int32_t piece) const noexcept;

  std::int32_t n_, h_;
  EqualParts windows_;
  Ways ways_;
  bool wraps_ = true;
  std::int32_t origin_ = 0;  // the index of place 0
};

}  // namespace torus::lines
