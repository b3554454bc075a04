/// The gate between a caller and the threads that serve it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include <torus/error.hpp>

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
/// for a thread that has not joined. serve() returns soon after release().
///
/// Design. `gate_` holds an open bit and the number of threads that joined the present call. A thread joins by incrementing it while the
/// bit is set; the caller closes the gate by clearing the bit, and from then on knows how many must leave. `generation_` counts the calls,
/// and is what threads spin on and sleep on.
///
/// Caveats. One caller, who lends again only when all threads that served have gone. Each thread that serves at the same time needs a
/// worker number of its own, and none is 0: that is the caller.
class Gate {
 public:
  /// spins: how long a thread spins before it sleeps; 0 where there are more threads than cores.
  explicit Gate(std::uint32_t spins) noexcept : spins_{spins} {}

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
    gate_.store(open, std::memory_order_release);  // pairs with the acquire of whoever joins: task_, called_ and left_ are visible
    generation_.store(called_, std::memory_order_release);
    generation_.notify_all();
    task(0);
    const std::uint32_t joined = gate_.fetch_and(~open, std::memory_order_relaxed) & ~open;
    wait_until(left_, [joined](std::uint32_t left) { return left == joined; });
  }

  /// Joins calls as `worker` until release(); returns at once where nothing is lent.
  void serve(unsigned worker) {
    if (!lent()) return;
    for (std::uint32_t seen = generation_.load(std::memory_order_relaxed) - 1;;) {
      wait_until(generation_, [seen](std::uint32_t generation) { return static_cast<std::int32_t>(generation - seen) > 0; });
      if (!lent()) return;
      seen = generation_.load(std::memory_order_acquire);
      std::uint32_t gate = gate_.load(std::memory_order_relaxed);
      while ((gate & open) != 0 && !gate_.compare_exchange_weak(gate, gate + 1, std::memory_order_acquire, std::memory_order_relaxed)) {
      }
      if ((gate & open) == 0) continue;  // too late
      // This may be a later call than the one that woke this thread, and generation_ may not count it yet. It must not be joined twice.
      seen = called_;
      (*task_)(worker);
      // The last to leave sees that all who joined have left: the acquire pairs with their releases.
      const std::uint32_t left = left_.fetch_add(1, std::memory_order_acq_rel) + 1;
      if (left == (gate_.load(std::memory_order_relaxed) & ~open)) left_.notify_one();
    }
  }

 private:
  static constexpr std::uint32_t open = 1U << 31U;

  void wake() noexcept {
    generation_.store(++called_, std::memory_order_release);
    generation_.notify_all();
  }

  /// Spins, then sleeps. The acquire pairs with the release of call(), of release() and of those who leave.
  template <class Done>
  void wait_until(std::atomic<std::uint32_t>& counter, Done done) const {
    for (std::uint32_t spin = 0; true; ++spin) {
      const std::uint32_t value = counter.load(std::memory_order_acquire);
      if (done(value)) return;
      if (spin < spins_)
        relax();
      else
        counter.wait(value, std::memory_order_acquire);
    }
  }

  const std::uint32_t spins_;
  // What a thread needs to join is one cache line; what it writes when it leaves is another.
  alignas(64) std::atomic<std::uint32_t> generation_{0};  // calls and releases
  std::atomic<std::uint32_t> gate_{0};                    // the open bit, and how many have joined
  std::uint32_t called_ = 0;                              // the same as generation_; written while nobody is in
  const std::function<void(unsigned)>* task_ = nullptr;
  std::atomic<bool> lent_{false};
  alignas(64) std::atomic<std::uint32_t> left_{0};  // how many of those who joined have returned
};

}  // namespace torus::detail
