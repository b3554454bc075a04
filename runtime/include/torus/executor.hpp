/// The seam between the engine and the host's threads: "call this on every worker at the same time, then wait".
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

namespace torus {

/// serial: the calling thread alone. threads: std::jthread and a barrier of atomics (the one that ThreadSanitizer can see into). tbb:
/// oneTBB. shuffled: the calling thread alone, nodes in a random order that changes every step; for tests.
enum class ExecutorKind : std::uint8_t { serial, threads, tbb, shuffled };

/// What runs a program unless something else is asked for. Not oneTBB: it finds its workers anew for each step, and steps are short, and it
/// waits for a worker whose core another program has taken.
inline constexpr ExecutorKind default_executor = ExecutorKind::threads;

/// oneTBB, but threads under ThreadSanitizer, which cannot see into Debian's oneTBB and takes it for a heap of races. For tests and stress.
#ifdef __SANITIZE_THREAD__
inline constexpr ExecutorKind tbb_unless_watched = ExecutorKind::threads;
#else
inline constexpr ExecutorKind tbb_unless_watched = ExecutorKind::tbb;
#endif

std::string_view name(ExecutorKind kind) noexcept;
/// Throws InputError on another word than serial, threads, tbb, shuffled.
ExecutorKind parse_executor(std::string_view text);

class Executor {
 public:
  virtual ~Executor() = default;
  /// Workers that run() calls for: 0..workers()-1.
  virtual unsigned workers() const noexcept = 0;
  /// Calls task(worker) once for every worker, on as many threads as there are, and returns when all are done: everything that the tasks
  /// wrote is visible then. A task must not throw and must not wait for another task. One caller at a time.
  virtual void run(const std::function<void(unsigned)>& task) = 0;
  /// Calls task(0) on the calling thread, and task(worker) on those others that are at hand before it is done; waits only for whom it has
  /// called. For tasks that share out their work among whoever comes: on a busy host nobody waits for a thread that has nothing left to do.
  virtual void share(const std::function<void(unsigned)>& task) { run(task); }
};

/// The workers that an executor of this kind has. threads 0: as many as the host has cores. serial and shuffled always have one.
unsigned workers_of(ExecutorKind kind, unsigned threads) noexcept;
/// Throws RunError if the system starts fewer threads than asked for.
std::unique_ptr<Executor> make_executor(ExecutorKind kind, unsigned threads);

}  // namespace torus
