// SPDX-License-Identifier: MIT
#include "runtime/executor.hpp"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "runtime/error.hpp"

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
  explicit ThreadsExecutor(unsigned workers)
      : spins_{workers <= std::max(1U, std::thread::hardware_concurrency()) ? 20'000U : 0U} {
    for (unsigned worker = 1; worker < workers; ++worker) {
      threads_.emplace_back([this, worker] { serve(worker); });
    }
  }

  ~ThreadsExecutor() override {
    task_ = nullptr;
    generation_.fetch_add(1, std::memory_order_release);  // pairs with the acquire in serve()
    generation_.notify_all();
  }

  unsigned workers() const noexcept override { return static_cast<unsigned>(threads_.size()) + 1; }

  void run(const std::function<void(unsigned)>& task) override {
    if (threads_.empty()) return task(0);
    task_ = &task;
    busy_.store(static_cast<std::uint32_t>(threads_.size()), std::memory_order_relaxed);  // published by the next line
    generation_.fetch_add(1, std::memory_order_release);                                  // pairs with the acquire in serve()
    generation_.notify_all();
    task(0);
    for (std::uint32_t spin = 0; true; ++spin) {
      const std::uint32_t busy = busy_.load(std::memory_order_acquire);  // pairs with the release in serve(): the workers' writes are visible
      if (busy == 0) return;
      if (spin < spins_) relax();
      else busy_.wait(busy, std::memory_order_acquire);
    }
  }

 private:
  void serve(unsigned worker) {
    for (std::uint32_t seen = 0; true; ++seen) {
      std::uint32_t generation = generation_.load(std::memory_order_acquire);
      for (std::uint32_t spin = 0; generation == seen && spin < spins_; ++spin) {
        relax();
        generation = generation_.load(std::memory_order_acquire);
      }
      while (generation == seen) {
        generation_.wait(seen, std::memory_order_acquire);
        generation = generation_.load(std::memory_order_acquire);  // pairs with the release in run(): task_ is visible
      }
      if (task_ == nullptr) return;
      (*task_)(worker);
      if (busy_.fetch_sub(1, std::memory_order_release) == 1) busy_.notify_one();
    }
  }

  std::uint32_t spins_;
  const std::function<void(unsigned)>* task_ = nullptr;
  alignas(64) std::atomic<std::uint32_t> generation_{0};
  alignas(64) std::atomic<std::uint32_t> busy_{0};
  std::vector<std::jthread> threads_;
};

class TbbExecutor final : public Executor {
 public:
  explicit TbbExecutor(unsigned workers)
      : workers_{workers},
        allowed_(oneapi::tbb::global_control::max_allowed_parallelism, std::max(workers, std::max(1U, std::thread::hardware_concurrency()))),
        arena_(static_cast<int>(workers)) {}
  unsigned workers() const noexcept override { return workers_; }
  void run(const std::function<void(unsigned)>& task) override {
    arena_.execute([&] {
      oneapi::tbb::parallel_for(0U, workers_, [&](unsigned worker) { task(worker); }, oneapi::tbb::static_partitioner{});
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

std::unique_ptr<Executor> make_executor(ExecutorKind kind, unsigned threads) {
  if (threads == 0) threads = std::max(1U, std::thread::hardware_concurrency());
  switch (kind) {
    case ExecutorKind::threads: return std::make_unique<ThreadsExecutor>(threads);
    case ExecutorKind::tbb: return std::make_unique<TbbExecutor>(threads);
    case ExecutorKind::serial:
    case ExecutorKind::shuffled: break;
  }
  return std::make_unique<SerialExecutor>();
}

}  // namespace torus
