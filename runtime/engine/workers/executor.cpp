#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <limits>
#include <memory>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <torus/error.hpp>
#include <torus/executor.hpp>

#include "runtime/base/host.hpp"
#include "runtime/engine/workers/gate.hpp"

namespace torus {
namespace {

/// How long threads spin between two calls. With more workers than cores, none spins.
std::uint32_t spins_for(unsigned workers) noexcept { return workers <= usable_cores() ? 20'000 : 0; }

/// How long a worker of run() spins before it takes the part of a worker that has not joined.
std::uint32_t patience_for(unsigned workers) noexcept { return spins_for(workers) / 10; }

// Estimates in nanoseconds; they affect only speed. A shorter task ends before other workers notice it; a worker that is called costs the
// caller some cache lines before and after the call, and a system call if it sleeps.
constexpr double worth_sharing = 8'000, call_of_spinning = 500, call_of_sleeping = 2'000;
constexpr double first_start = 1'000'000, later_start = 50'000;

/// Starts the threads 1..workers-1. Where the system does not start them all, throws RunError, after `dismiss` has made those end that it
/// has started; or returns those, if fewer will do.
template <class Body, class Dismiss>
std::vector<std::jthread> start_threads(unsigned workers, bool fewer_do, Body body, Dismiss dismiss) {
  std::vector<std::jthread> threads;
  try {
    for (unsigned worker = 1; worker < workers; ++worker) threads.emplace_back([body, worker] { body(worker); });
  } catch (const std::system_error&) {
    if (fewer_do) return threads;
    dismiss();
    throw RunError("threads " + std::to_string(workers) + ": the system starts no more than " + std::to_string(threads.size() + 1) +
                   " for this process; choose fewer");
  } catch (...) {
    dismiss();
    throw;
  }
  return threads;
}

class SerialExecutor final : public Executor {
 public:
  SerialExecutor() : Executor(1, 0) {}

 private:
  void call(unsigned, const std::function<void(unsigned)>& task) override { task(0); }
};

class ThreadsExecutor final : public Executor {
 public:
  ThreadsExecutor(unsigned workers, bool fewer_do) : Executor(workers, patience_for(workers)), gate_(workers, spins_for(workers)) {
    gate_.lend();
    threads_ = start_threads(
        workers, fewer_do, [this](unsigned worker) { gate_.serve(worker); }, [this] { gate_.release(); });
  }
  ~ThreadsExecutor() override { gate_.release(); }

  unsigned threads() const noexcept override { return static_cast<unsigned>(threads_.size()) + 1; }

 private:
  void call(unsigned called, const std::function<void(unsigned)>& task) override { gate_.call(called, task); }

  detail::Gate gate_;
  std::vector<std::jthread> threads_;
};

/// Borrows oneTBB's threads by tasks that stay at the gate until release(). A thread's index in the arena is its worker's number: oneTBB
/// gives no two threads the same, and gives a thread its last one again where it can.
class TbbExecutor final : public Executor {
 public:
  TbbExecutor(unsigned workers, bool fewer_do)
      : Executor(workers, patience_for(workers)),
        gate_(workers, spins_for(workers)),
        fewer_do_{fewer_do},
        threads_{workers},
        arena_(static_cast<int>(workers)) {
    if (workers > usable_cores()) try_threads();
  }
  ~TbbExecutor() noexcept override { release(); }

  unsigned threads() const noexcept override { return threads_; }

  void release() noexcept override {
    if (!gate_.lent()) return;
    gate_.release();
    arena_.execute([this] { borrowed_.wait(); });  // runs here the tasks that no thread has taken
    allowed_.reset();
  }

 private:
  void call(unsigned called, const std::function<void(unsigned)>& task) override {
    if (threads_ > 1 && !gate_.lent()) borrow();
    if (threads_ == 1) return task(0);
    gate_.call(called, task);
  }

  double start_ns() const noexcept override {
    if (threads_ == 1) return std::numeric_limits<double>::infinity();
    return gate_.lent() ? 0 : has_lent_ ? later_start : first_start;
  }

  /// oneTBB aborts the process where the system does not start a thread that it needs: find out before it does.
  void try_threads() {
    if (std::exchange(tried_, true)) return;
    std::atomic<bool> done{false};
    const auto dismiss = [&done] {
      done.store(true);
      done.notify_all();
    };
    const std::vector<std::jthread> started = start_threads(
        workers(), fewer_do_, [&done](unsigned) { done.wait(false); }, dismiss);
    threads_ = static_cast<unsigned>(started.size()) + 1;
    dismiss();
  }

  /// Has oneTBB get its memory. A later use of an arena that has none would wait for ever.
  void make_arena() {
    const unsigned all = std::exchange(threads_, 1);
    try {
      // Without this, oneTBB lends no more threads than there are cores, and asks the system for as many.
      allowed_.emplace(oneapi::tbb::global_control::max_allowed_parallelism, all < workers() ? all : std::max(workers(), usable_cores()));
      arena_.initialize();
      threads_ = all;
    } catch (const std::exception&) {
      allowed_.reset();
      if (!fewer_do_) throw;
    }
  }

  /// Leaves one thread where there are no others to borrow.
  void borrow() {
    try_threads();
    if (threads_ > 1) make_arena();
    if (threads_ == 1) return;
    has_lent_ = true;
    gate_.lend();
    arena_.execute([this] {
      for (unsigned i = 1; i < workers(); ++i) {
        borrowed_.run([this] {
          const int worker = oneapi::tbb::this_task_arena::current_thread_index();
          if (worker > 0 && worker < static_cast<int>(workers())) gate_.serve(static_cast<unsigned>(worker));
        });
      }
    });
  }

  detail::Gate gate_;
  const bool fewer_do_;
  unsigned threads_;       // that the system starts, as far as it was tried
  bool tried_ = false;     // whether it was
  bool has_lent_ = false;  // oneTBB has them
  oneapi::tbb::task_arena arena_;
  oneapi::tbb::task_group borrowed_;
  std::optional<oneapi::tbb::global_control> allowed_;  // while threads are borrowed
};

}  // namespace

void Executor::run_on(unsigned called, const std::function<void(unsigned)>& task) {
  for (std::atomic<bool>& taken : taken_) taken.store(false, std::memory_order_relaxed);  // published by the gate
  share(called, [this, called, &task](unsigned worker) {
    std::uint32_t spin = 0;
    for (unsigned i = 0; i < workers(); ++i) {
      const unsigned part = (worker + i) % workers();
      std::atomic<bool>& taken = taken_[part];
      while (i > 0 && part < called && spin < patience_ && !taken.load(std::memory_order_relaxed)) {
        detail::relax();
        ++spin;
      }
      if (!taken.exchange(true, std::memory_order_relaxed)) task(part);
    }
  });
}

unsigned Executor::worth(double ns) noexcept {
  if (workers() == 1 || ns < worth_sharing) return 1;
  const double call_ns = patience_ > 0 ? call_of_spinning : call_of_sleeping;
  // The fewest nanoseconds of ns / called + call_ns * called.
  const auto called = static_cast<unsigned>(std::clamp(std::sqrt(ns / call_ns), 2.0, static_cast<double>(workers())));
  const double start = start_ns();
  if (start == 0) return called;
  alone_ns_ += ns;
  if (alone_ns_ < start) return 1;
  alone_ns_ = 0;
  return called;
}

std::string_view name(ExecutorKind kind) noexcept {
  switch (kind) {
    case ExecutorKind::tbb: return "tbb";
    case ExecutorKind::threads: return "threads";
    case ExecutorKind::serial: return "serial";
    case ExecutorKind::shuffled: return "shuffled";
  }
  return "";
}

ExecutorKind parse_executor(std::string_view text) {
  for (const ExecutorKind kind : {ExecutorKind::tbb, ExecutorKind::threads, ExecutorKind::serial, ExecutorKind::shuffled}) {
    if (text == name(kind)) return kind;
  }
  throw InputError("executor '" + std::string(text) + "': it must be tbb, threads, serial or shuffled");
}

unsigned workers_of(ExecutorKind kind, unsigned threads) noexcept {
  if (kind == ExecutorKind::serial || kind == ExecutorKind::shuffled) return 1;
  return threads > 0 ? threads : usable_cores();
}

std::unique_ptr<Executor> make_executor(ExecutorKind kind, unsigned threads, bool fewer_do) {
  switch (kind) {
    case ExecutorKind::tbb: return std::make_unique<TbbExecutor>(workers_of(kind, threads), fewer_do);
    case ExecutorKind::threads: return std::make_unique<ThreadsExecutor>(workers_of(kind, threads), fewer_do);
    case ExecutorKind::serial:
    case ExecutorKind::shuffled: break;
  }
  return std::make_unique<SerialExecutor>();
}

}  // namespace torus
