/// Memory that a run may use beyond its estimate.
#pragma once

#include <string>

#include <torus/error.hpp>
#include <torus/machine.hpp>

#include "runtime/engine/workers/atomics.hpp"

namespace torus::detail {

/// Bytes that messages and further copies of blocks draw from, in large pieces, on whichever worker: together they stay within the run's
/// memory limit. Its counts publish nothing, so no order is needed.
template <class Atomics>
class BasicMemoryBudget {
 public:
  explicit BasicMemoryBudget(Bytes bytes) noexcept : granted_{bytes}, left_{bytes} {}

  /// Takes bytes. False, and nothing taken, if less is left. Any worker.
  bool take(Bytes bytes) noexcept {
    Bytes left = left_.load(std::memory_order_relaxed);
    while (left >= bytes) {
      if (left_.compare_exchange_weak(left, left - bytes, std::memory_order_relaxed)) return true;
    }
    return false;
  }
  /// Throws RunError. The run then ends after its step, even if a program catches the error: the message is lost.
  [[noreturn]] void refuse(const std::string& text) {
    exhausted_.store(true, std::memory_order_relaxed);
    throw RunError(text);
  }
  bool exhausted() const noexcept { return exhausted_.load(std::memory_order_relaxed); }
  /// Makes all of it available again.
  void refill() noexcept {
    left_.store(granted_, std::memory_order_relaxed);
    exhausted_.store(false, std::memory_order_relaxed);
  }
  /// The bytes at the start of a run.
  Bytes granted() const noexcept { return granted_; }

 private:
  Bytes granted_;
  typename Atomics::template Atomic<Bytes> left_;
  typename Atomics::template Atomic<bool> exhausted_{false};
};

using MemoryBudget = BasicMemoryBudget<StandardAtomics>;

}  // namespace torus::detail
