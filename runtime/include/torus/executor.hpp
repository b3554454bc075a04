/// Executors: the workers that run an emulation, and the threads that they borrow.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace torus {

/// tbb: threads that oneTBB lends. threads: threads of the executor's own (std::jthread). serial: the calling thread alone. shuffled: the
/// calling thread alone, and the engine runs the nodes of each step in a random order; for tests.
enum class ExecutorKind : std::uint8_t { tbb, threads, serial, shuffled };

/// oneTBB; under ThreadSanitizer threads, since it reports races in a oneTBB that is not instrumented.
#ifdef __SANITIZE_THREAD__
inline constexpr ExecutorKind default_executor = ExecutorKind::threads;
#else
inline constexpr ExecutorKind default_executor = ExecutorKind::tbb;
#endif

std::string_view name(ExecutorKind kind) noexcept;
/// Throws InputError on other words than tbb, threads, serial, shuffled.
ExecutorKind parse_executor(std::string_view text);

/// Runs tasks on workers 0..workers()-1. Worker 0 is the calling thread.
///
/// Guarantees. At any time, one thread at most runs as a given worker. When share() or run() returns, every call of the task has returned,
/// and what it wrote is visible to the caller. Neither waits for a worker that has not joined: a busy host, or a oneTBB whose threads work
/// elsewhere, makes a call slower and never stops it. A worker runs on the same thread from one call to the next, until release().
///
/// Design. A gate: a call opens it, workers that are ready join, and the caller closes it when its own part is done. `threads` starts its
/// threads at once; `tbb` borrows one for each worker but the first in the first call after construction or release(). They spin between
/// calls, because the next step mostly follows within microseconds, and then sleep. Callers that know what a task takes ask worth() first:
/// starting threads costs more than a short run does, and each worker costs the caller part of a microsecond a call.
///
/// Caveats. A task must not throw. One caller at a time, and no call from within a task of the same executor.
class Executor {
 public:
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  virtual ~Executor() = default;

  unsigned workers() const noexcept { return static_cast<unsigned>(taken_.size()); }
  /// Threads that do their work: one a worker, or fewer where the system has started no more and those would do.
  virtual unsigned threads() const noexcept { return workers(); }

  /// Calls task(0) on the calling thread, and task(worker) at most once on each of the workers 1..called-1 that joins before task(0)
  /// returns. For tasks that share their work among the workers that join. called: 1..workers().
  void share(unsigned called, const std::function<void(unsigned)>& task) { called == 1 ? task(0) : call(called, task); }
  void share(const std::function<void(unsigned)>& task) { share(workers(), task); }

  /// Calls task(part) once for each part 0..workers()-1: on worker `part` if it joins within some 50 microseconds, else on one that has
  /// finished its own part. For work that belongs to a worker, such as the first touch of its memory.
  void run(const std::function<void(unsigned)>& task) { run_on(workers(), task); }
  /// The same for a task that takes one thread some `ns` nanoseconds: on as many workers as it is worth.
  void run(double ns, const std::function<void(unsigned)>& task) { run_on(worth(ns), task); }

  /// How many workers a task that takes one thread some `ns` nanoseconds is worth: those with which it ends first, where each costs the
  /// caller part of a microsecond, or two where there are more workers than cores; 1 if sharing does not pay. Until threads have been
  /// borrowed, it does once all that was asked for has taken as long as borrowing them: whatever follows, at most twice the time of the
  /// best choice is lost.
  unsigned worth(double ns) noexcept;

  /// Gives borrowed threads back. The engine calls it at the end of a run, so that an idle engine holds no thread of oneTBB. `threads`
  /// keeps its own.
  virtual void release() noexcept {}

 protected:
  /// What it takes to get threads, in nanoseconds; 0 if they are there.
  virtual double start_ns() const noexcept { return 0; }

  /// patience: how often a worker of run() looks for another one before it takes its part.
  Executor(unsigned workers, std::uint32_t patience) : taken_(workers), patience_{patience} {}

 private:
  /// The same for two workers or more.
  virtual void call(unsigned called, const std::function<void(unsigned)>& task) = 0;
  void run_on(unsigned called, const std::function<void(unsigned)>& task);

  std::vector<std::atomic<bool>> taken_;  // the parts of run() that a worker has begun
  std::uint32_t patience_;
  double alone_ns_ = 0;  // of the tasks that were not shared for want of threads
};

/// Workers of an executor of this kind. threads 0: the cores that this process may use (its affinity mask). serial and shuffled have one.
unsigned workers_of(ExecutorKind kind, unsigned threads) noexcept;
/// Where the system starts fewer threads than that, throws RunError, in the first call at the latest; or, if fewer will do, those that it
/// starts do the work of all workers.
std::unique_ptr<Executor> make_executor(ExecutorKind kind, unsigned threads, bool fewer_do = false);

}  // namespace torus
