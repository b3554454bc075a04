/// The gate between a caller and the threads that serve it.
#pragma once

#include <cstdint>
#include <functional>

#include <torus/error.hpp>

#include "runtime/engine/workers/atomics.hpp"

namespace torus::detail {

/// Tells the processor that this thread spins.
inline void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

/// Lets threads join the calls of one caller.
///
/// Guarantees. call() returns when its own part and those of all who joined have returned; what they wrote is visible then. It never waits
/// for a thread that has not joined. A thread that serves joins each call that it comes to while the call's own part runs. serve() returns
/// soon after release().
///
/// Design. `gate_` holds an open bit and the number of threads that joined the present call. A thread joins by incrementing it while the
/// bit is set; the caller closes the gate by clearing the bit, and from then on knows how many must leave. `generation_` counts the calls,
/// and is what threads spin on and sleep on.
///
/// Caveats. There is one caller. It lends again only after all serving threads have left. Each thread that serves at the same time needs a
/// worker number of its own, and none is 0: that is the caller.
template <class Atomics>
class BasicGate {
 public:
  /// spins: how long a thread spins before it sleeps; 0 where there are more threads than cores.
  explicit BasicGate(std::uint32_t spins) noexcept : spins_{spins} {}

  /// serve() stays from now on.
  void lend() noexcept {
    TORUS_ASSERT(!lent());
    lent_.store(true, std::memory_order_relaxed);
  }
  bool lent() const noexcept { return lent_.load(std::memory_order_relaxed); }

  /// Makes serve() return in all threads. Does not wait for that.
  void release() noexcept {
    TORUS_ASSERT(lent());
    lent_.store(false, std::memory_order_relaxed);  // published by generation_
    wake();
  }

  /// Runs task(0) here and task(worker) on the threads that join meanwhile.
  void call(const std::function<void(unsigned)>& task) {
    TORUS_ASSERT((gate_.load(std::memory_order_relaxed) & open) == 0);
    task_ = &task;
    left_.store(0, std::memory_order_relaxed);
    ++called_;
    gate_.store(open, std::memory_order_release);           // pairs with the acquire of whoever joins: task_, called_ and left_ are visible
    generation_.store(called_, std::memory_order_release);  // pairs with the acquire in wait_until(): who is woken finds the gate open
    generation_.notify_all();
    task(0);
    const std::uint32_t joined = gate_.fetch_and(~open, std::memory_order_relaxed) & ~open;
    wait_until(left_, [joined](std::uint32_t left) { return left == joined; });
  }

  /// Joins calls as `worker` until release(); returns at once where nothing is lent.
  void serve(unsigned worker) {
    if (!lent()) return;
    for (std::uint32_t seen = generation_.load(std::memory_order_relaxed) - 1;;) {
      // Not a later one than was waited for: it may count the release, which lent() has not seen then.
      seen = wait_until(generation_, [seen](std::uint32_t generation) { return static_cast<std::int32_t>(generation - seen) > 0; });
      if (!lent()) return;
      std::uint32_t gate = gate_.load(std::memory_order_relaxed);
      while ((gate & open) != 0 && !gate_.compare_exchange_weak(gate, gate + 1, std::memory_order_acquire, std::memory_order_relaxed)) {
      }
      if ((gate & open) == 0) continue;  // too late
      // This may be a later call than the one that woke this thread, and generation_ may not count it yet. It must not be joined twice.
      seen = called_;
      (*task_)(worker);
      // The release pairs with the acquire of the caller in wait_until(): what this part wrote is visible. The acquire pairs with the
      // releases of the others: the last to leave sees all who joined, and wakes the caller.
      const std::uint32_t left = left_.fetch_add(1, std::memory_order_acq_rel) + 1;
      if (left == (gate_.load(std::memory_order_relaxed) & ~open)) left_.notify_one();
    }
  }

 private:
  using Counter = typename Atomics::template Atomic<std::uint32_t>;
  static constexpr std::uint32_t open = 1U << 31U;

  void wake() noexcept {
    generation_.store(++called_, std::memory_order_release);  // pairs with the acquire in wait_until(): lent_ is visible
    generation_.notify_all();
  }

  /// Spins, then sleeps. Returns the value that was waited for. The acquire pairs with the release of call(), of release() and of those who
  /// leave.
  template <class Done>
  std::uint32_t wait_until(Counter& counter, Done done) const {
    for (std::uint32_t spin = 0; true; ++spin) {
      const std::uint32_t value = counter.load(std::memory_order_acquire);
      if (done(value)) return value;
      if (spin < spins_)
        relax();
      else
        counter.wait(value, std::memory_order_relaxed);  // it is loaded again
    }
  }

  const std::uint32_t spins_;
  // What a thread needs to join is one cache line; what it writes when it leaves is another.
  alignas(64) Counter generation_{0};                                                      // calls and releases
  Counter gate_{0};                                                                        // the open bit, and how many have joined
  typename Atomics::template Plain<std::uint32_t> called_ = 0;                             // as generation_; written while nobody is in
  typename Atomics::template Plain<const std::function<void(unsigned)>*> task_ = nullptr;  // likewise
  typename Atomics::template Atomic<bool> lent_{false};
  alignas(64) Counter left_{0};  // how many of those who joined have returned
};

using Gate = BasicGate<StandardAtomics>;

}  // namespace torus::detail
