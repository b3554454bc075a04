/// A range of numbers that several workers divide among themselves.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/engine/workers/atomics.hpp"

namespace torus::detail {

/// Each number goes to one worker. What a worker does with its numbers is its own, so nothing but the count is shared, and no order is
/// needed: assign() is published by the gate.
template <class Atomics = StandardAtomics>
class SharedRange {
 public:
  struct Piece {
    std::uint64_t begin = 0, end = 0;
    bool empty() const noexcept { return begin == end; }
  };

  /// One thread, before others take.
  void assign(std::uint64_t begin, std::uint64_t end) noexcept {
    begin_ = begin;
    end_ = end;
    restart();
  }
  /// Gives all of it out again; as assign().
  void restart() noexcept { next_.store(begin_, std::memory_order_relaxed); }
  /// The next numbers, at most `most`; empty if none is left.
  [[gnu::always_inline]] Piece take(std::uint64_t most) noexcept {
    if (spent()) return {};  // without a write, which would take the cache line from its owner
    const std::uint64_t first = next_.fetch_add(most, std::memory_order_relaxed);
    const std::uint64_t end = end_;
    return first >= end ? Piece{} : Piece{first, std::min(first + most, end)};
  }
  /// Numbers that have been taken. One thread.
  std::uint64_t taken() const noexcept { return std::min<std::uint64_t>(next_.load(std::memory_order_relaxed), end_) - begin_; }
  /// True only if none is left.
  bool spent() const noexcept { return next_.load(std::memory_order_relaxed) >= end_; }

 private:
  typename Atomics::template Atomic<std::uint64_t> next_{0};
  typename Atomics::template Plain<std::uint64_t> begin_ = 0, end_ = 0;
};

}  // namespace torus::detail
