/// The gate between a caller and the threads that serve it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <torus/error.hpp>

#include "runtime/engine/workers/atomics.hpp"

namespace torus::detail {

/// Tells the processor that this thread spins.
inline void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

/// Lets threads join the calls of one caller, who names how many workers a call is for.
///
/// Guarantees. call() returns when its own part and those of all who joined have returned; what they wrote is visible then. It never waits
/// for a thread that has not joined. A thread that serves as a worker that is called joins each call that it comes to while the call's own
/// part runs; the others are not woken. serve() returns soon after release().
///
/// Design. `gate_` holds an open bit, the number of workers that the present call is for, and the number of threads that joined it. A
/// thread joins by incrementing that while the bit is set; the caller closes the gate by clearing the bit, and from then on knows how many
/// must leave. `calls_` counts the calls. Each worker has a seat with the last call that it is wanted for, on a cache line of its own: on
/// this its thread spins and sleeps. So a call writes as many lines as it wakes workers, one after the other without waiting for any.
///
/// Caveats. There is one caller. It lends again only after all serving threads have left. Each thread that serves at the same time needs a
/// worker number of its own, from 1 on: 0 is the caller.
template <class Atomics>
class BasicGate {
 public:
  /// spins: how long a thread spins before it sleeps; 0 where there are more threads than cores.
  BasicGate(unsigned workers, std::uint32_t spins) : spins_{spins}, seats_(workers) { TORUS_ASSERT(workers <= joined_bits); }

  /// serve() stays from now on.
  void lend() noexcept {
    TORUS_ASSERT(!lent());
    lent_.store(true, std::memory_order_relaxed);
  }
  bool lent() const noexcept { return lent_.load(std::memory_order_relaxed); }

  /// Makes serve() return in all threads. Does not wait for that.
  void release() noexcept {
    TORUS_ASSERT(lent());
    lent_.store(false, std::memory_order_relaxed);  // published by the seats
    ++calls_;
    wake(workers());
  }

  /// Runs task(0) here and task(worker) on the threads of workers 1..called-1 that join meanwhile.
  void call(unsigned called, const std::function<void(unsigned)>& task) {
    TORUS_ASSERT(called >= 1 && called <= workers());
    TORUS_ASSERT((gate_.load(std::memory_order_relaxed) & open) == 0);
    task_ = &task;
    left_.store(0, std::memory_order_relaxed);
    ++calls_;
    // The release pairs with the acquire of whoever joins: task_, calls_ and left_ are visible.
    gate_.store(open | called << called_shift, std::memory_order_release);
    wake(called);
    task(0);
    const std::uint32_t joined = gate_.fetch_and(~open, std::memory_order_relaxed) & joined_bits;
    wait_until(left_, [joined](std::uint32_t left) { return left == joined; });
  }

  /// Joins calls as `worker` until release(); returns at once where nothing is lent.
  void serve(unsigned worker) {
    if (!lent()) return;
    const Counter& wanted = seats_[worker].wanted;
    for (std::uint32_t seen = wanted.load(std::memory_order_relaxed) - 1;;) {
      // Not a later one than was waited for: it may count the release, which lent() has not seen then.
      seen = wait_until(wanted, [seen](std::uint32_t call) { return static_cast<std::int32_t>(call - seen) > 0; });
      if (!lent()) return;
      std::uint32_t gate = gate_.load(std::memory_order_relaxed);
      while (is_for(worker, gate) && !gate_.compare_exchange_weak(gate, gate + 1, std::memory_order_acquire, std::memory_order_relaxed)) {
      }
      if (!is_for(worker, gate)) continue;  // too late
      // This may be a later call than the one that woke this thread, and its seat may not say so yet. It must not be joined twice.
      seen = calls_;
      (*task_)(worker);
      // The release pairs with the acquire of the caller in wait_until(): what this part wrote is visible. The acquire pairs with the
      // releases of the others: the last to leave sees all who joined, and wakes the caller.
      const std::uint32_t left = left_.fetch_add(1, std::memory_order_acq_rel) + 1;
      if (left == (gate_.load(std::memory_order_relaxed) & joined_bits)) left_.notify_one();
    }
  }

 private:
  using Counter = typename Atomics::template Atomic<std::uint32_t>;
  static constexpr std::uint32_t open = 1U << 31U, called_shift = 16, joined_bits = (1U << 15U) - 1;

  struct alignas(64) Seat {
    Counter wanted{0};
  };

  unsigned workers() const noexcept { return static_cast<unsigned>(seats_.size()); }
  /// Whether the gate is open for a worker.
  static bool is_for(unsigned worker, std::uint32_t gate) noexcept {
    return (gate & open) != 0 && worker < ((gate & ~open) >> called_shift);
  }

  void wake(unsigned called) noexcept {
    for (unsigned worker = 1; worker < called; ++worker) {
      // The release pairs with the acquire in wait_until(): who is woken finds the gate open, or lent_ as release() left it.
      seats_[worker].wanted.store(calls_, std::memory_order_release);
      seats_[worker].wanted.notify_one();
    }
  }

  /// Spins, then sleeps. Returns the value that was waited for. The acquire pairs with the release of call(), of release() and of those who
  /// leave.
  template <class Done>
  std::uint32_t wait_until(const Counter& counter, Done done) const {
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
  std::vector<Seat> seats_;  // by worker
  // What a thread needs to join is one cache line; what it writes when it leaves is another.
  alignas(64) Counter gate_{0};                                // the open bit, how many are called and joined
  typename Atomics::template Plain<std::uint32_t> calls_ = 0;  // counts calls and releases; written while nobody is in
  typename Atomics::template Plain<const std::function<void(unsigned)>*> task_ = nullptr;  // likewise
  typename Atomics::template Atomic<bool> lent_{false};
  alignas(64) Counter left_{0};  // how many of those who joined have returned
};

using Gate = BasicGate<StandardAtomics>;

}  // namespace torus::detail
