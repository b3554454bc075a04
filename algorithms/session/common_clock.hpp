/// The clock of several runs, each on a thread of its own: a global step ends when all that take part have ended theirs.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include <torus/session.hpp>

namespace torus::detail {

/// Runs that begin at their offsets and end when they like. Whether all must stop is decided at the end of a global step and at no other
/// time, so that it does not depend on the threads in which step they stop.
class CommonClock {
 public:
  struct Close {
    /// Called at the end of each global step in which some run took part, with the lock held: on one thread at a time. Those that took no
    /// part have sent nothing. True: all must stop. What it throws stops all, and is kept.
    std::function<bool(Step, std::span<const StepSends>)> step;
    /// Called with the number of global steps that pass without any run: all that have begun have ended, and the next begins later.
    std::function<void(Step)> idle;
  };
  /// stop: set when all must stop; for RunOptions::stop. in_turns: within a global step one run after the other, in their order, and not
  /// all at once.
  CommonClock(std::span<const Step> offsets, Close close, std::atomic<bool>& stop, bool in_turns);

  /// Called by a run's thread: waits for its first step. False: it must not begin.
  bool begin(std::size_t run);
  /// The run has ended a step, in which it has sent this. Returns when all have, and the step is closed; what it has sent must stay until
  /// then.
  void arrive(std::size_t run, const StepSends& sends);
  /// The run has ended, or will not begin. Not good: all others must stop, too. May be called again.
  void leave(std::size_t run, bool good) noexcept;

  /// Rethrows what `Close` has thrown. When all have left.
  void rethrow() const;

 private:
  enum class State { waits, runs, arrived, ended };

  bool has_turn(std::size_t run) const noexcept;
  void close_if_all_have_arrived() noexcept;
  void close_step() noexcept;
  void start_those_due() noexcept;
  void stop_all() noexcept;
  template <class F>
  void keep(F&& f) noexcept;

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::vector<Step> offsets_;
  const Close close_;
  std::atomic<bool>& stop_;
  const bool in_turns_;
  std::vector<State> states_;
  std::vector<StepSends> sends_;
  Step now_ = 0;
  bool failed_ = false;  // all must stop when the step is closed
  std::exception_ptr thrown_;
};

}  // namespace torus::detail
