#include <algorithm>
#include <atomic>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <torus/error.hpp>
#include <torus/executor.hpp>

namespace torus {
namespace {

void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

class SerialExecutor final : public Executor {
 public:
  unsigned workers() const noexcept override { return 1; }
  void run(const std::function<void(unsigned)>& task) override { task(0); }
};

/// Worker 0 is the caller. The others spin for a short while between two runs, since the next step mostly follows within microseconds,
/// and then sleep in the kernel. With more workers than cores nobody spins.
class ThreadsExecutor final : public Executor {
 public:
  explicit ThreadsExecutor(unsigned workers) : spins_{workers <= std::max(1U, std::thread::hardware_concurrency()) ? 20'000U : 0U} {
    try {
      for (unsigned worker = 1; worker < workers; ++worker) threads_.emplace_back([this, worker] { serve(worker); });
    } catch (const std::system_error&) {
      const std::size_t started = threads_.size() + 1;
      dismiss();
      throw RunError("threads " + std::to_string(workers) + ": the system starts no more than " + std::to_string(started) +
                     " for this process; choose fewer");
    } catch (...) {
      dismiss();
      throw;
    }
  }

  ~ThreadsExecutor() override { dismiss(); }

  unsigned workers() const noexcept override { return static_cast<unsigned>(threads_.size()) + 1; }

  void run(const std::function<void(unsigned)>& task) override { start(task, true); }
  void share(const std::function<void(unsigned)>& task) override { start(task, false); }

 private:
  static constexpr std::uint32_t open = 1U << 31U;

  /// Lets the threads end; they are joined when they are destroyed.
  void dismiss() noexcept {
    task_ = nullptr;
    call();
  }

  void start(const std::function<void(unsigned)>& task, bool everyone) {
    if (threads_.empty()) return task(0);
    task_ = &task;
    left_.store(0, std::memory_order_relaxed);
    call();
    task(0);
    if (everyone) wait_until(left_, [this](std::uint32_t left) { return left == threads_.size(); });
    const std::uint32_t entered = gate_.fetch_and(~open, std::memory_order_relaxed) & ~open;
    wait_until(left_, [entered](std::uint32_t left) { return left == entered; });
  }

  /// Opens the gate and tells the others.
  void call() {
    ++called_;
    gate_.store(open, std::memory_order_release);  // pairs with the acquire of whoever comes in: task_, called_ and left_ are visible
    generation_.store(called_, std::memory_order_release);
    generation_.notify_all();
  }

  /// Spins, then sleeps. The acquire pairs with the release of those who leave: what they wrote is visible.
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

  void serve(unsigned worker) {
    for (std::uint32_t seen = 0;;) {
      wait_until(generation_, [seen](std::uint32_t generation) { return static_cast<std::int32_t>(generation - seen) > 0; });
      seen = generation_.load(std::memory_order_acquire);
      std::uint32_t gate = gate_.load(std::memory_order_relaxed);
      while ((gate & open) != 0 && !gate_.compare_exchange_weak(gate, gate + 1, std::memory_order_acquire, std::memory_order_relaxed)) {
      }
      if ((gate & open) == 0) continue;  // too late
      // It may be a later call than what we woke up for, one that generation_ does not tell of yet: it must not let us in again.
      seen = called_;
      if (task_ == nullptr) return;
      (*task_)(worker);
      // Who leaves last sees that all who have come in have left: the acquire pairs with their releases.
      const std::uint32_t left = left_.fetch_add(1, std::memory_order_acq_rel) + 1;
      if (left == (gate_.load(std::memory_order_relaxed) & ~open)) left_.notify_one();
    }
  }

  std::uint32_t spins_;
  // What a thread needs to come in is one cache line, and what it writes when it leaves another.
  alignas(64) std::atomic<std::uint32_t> generation_{0};  // counts the calls
  std::atomic<std::uint32_t> gate_{0};                    // whether one may still come in, and how many have
  std::uint32_t called_ = 0;                              // how often; written while nobody is in
  const std::function<void(unsigned)>* task_ = nullptr;
  alignas(64) std::atomic<std::uint32_t> left_{0};  // how many of those have done the task
  std::vector<std::jthread> threads_;
};

class TbbExecutor final : public Executor {
 public:
  explicit TbbExecutor(unsigned workers)
      : workers_{workers},
        allowed_(oneapi::tbb::global_control::max_allowed_parallelism,
                 std::max(workers, std::max(1U, std::thread::hardware_concurrency()))),
        arena_(static_cast<int>(workers)) {}
  unsigned workers() const noexcept override { return workers_; }
  void run(const std::function<void(unsigned)>& task) override {
    arena_.execute([&] {
      oneapi::tbb::parallel_for(
          0U, workers_, [&](unsigned worker) { task(worker); }, oneapi::tbb::static_partitioner{});
    });
  }

 private:
  unsigned workers_;
  oneapi::tbb::global_control allowed_;  // oneTBB starts no more threads than cores unless told so, and warns
  oneapi::tbb::task_arena arena_;
};

}  // namespace

std::string_view name(ExecutorKind kind) noexcept {
  switch (kind) {
    case ExecutorKind::serial: return "serial";
    case ExecutorKind::threads: return "threads";
    case ExecutorKind::tbb: return "tbb";
    case ExecutorKind::shuffled: return "shuffled";
  }
  return "";
}

ExecutorKind parse_executor(std::string_view text) {
  for (const ExecutorKind kind : {ExecutorKind::serial, ExecutorKind::threads, ExecutorKind::tbb, ExecutorKind::shuffled}) {
    if (text == name(kind)) return kind;
  }
  throw InputError("executor '" + std::string(text) + "': it must be serial, threads, tbb or shuffled");
}

unsigned workers_of(ExecutorKind kind, unsigned threads) noexcept {
  if (kind == ExecutorKind::serial || kind == ExecutorKind::shuffled) return 1;
  return threads > 0 ? threads : std::max(1U, std::thread::hardware_concurrency());
}

std::unique_ptr<Executor> make_executor(ExecutorKind kind, unsigned threads) {
  switch (kind) {
    case ExecutorKind::threads: return std::make_unique<ThreadsExecutor>(workers_of(kind, threads));
    case ExecutorKind::tbb: return std::make_unique<TbbExecutor>(workers_of(kind, threads));
    case ExecutorKind::serial:
    case ExecutorKind::shuffled: break;
  }
  return std::make_unique<SerialExecutor>();
}

}  // namespace torus
