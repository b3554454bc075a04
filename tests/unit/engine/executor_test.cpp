#include <atomic>
#include <fstream>
#include <memory>
#include <oneapi/tbb/global_control.h>
#include <sched.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include <torus/executor.hpp>

#include "runtime/base/host.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/run.hpp"

using namespace torus;

namespace {

/// Has the calling thread use one core until the end of a scope.
class OnOneCore {
 public:
  OnOneCore() {
    REQUIRE(sched_getaffinity(0, sizeof before_, &before_) == 0);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
    REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  }
  OnOneCore(const OnOneCore&) = delete;
  OnOneCore& operator=(const OnOneCore&) = delete;
  ~OnOneCore() { sched_setaffinity(0, sizeof before_, &before_); }

  int cores_before() const noexcept { return CPU_COUNT(&before_); }

 private:
  cpu_set_t before_{};
};

}  // namespace

TEST_CASE("every part is done once, also after tasks that only those at hand have shared, and after threads were given back", "[unit]") {
  for (const support::Workers& workers : support::every_executor()) {
    CAPTURE(workers.text());
    const auto executor = make_executor(workers.executor, workers.threads);
    std::vector<std::atomic<unsigned>> calls(executor->workers());
    bool first_came = true;
    bool nobody_twice = true;
    bool everybody_once = true;
    for (unsigned round = 0; round < 500; ++round) {
      for (auto& count : calls) count = 0;
      executor->share([&](unsigned worker) { ++calls[worker]; });
      first_came = first_came && calls[0] == 1;
      for (auto& count : calls) nobody_twice = nobody_twice && count <= 1;
      for (auto& count : calls) count = 0;
      executor->run([&](unsigned worker) { ++calls[worker]; });
      for (auto& count : calls) everybody_once = everybody_once && count == 1;
      if (round % 3 == 0) executor->release();
    }
    CHECK(first_came);
    CHECK(nobody_twice);
    CHECK(everybody_once);
  }
}

TEST_CASE("two workers are never the same thread at a time, and one worker never two threads", "[unit]") {
  for (const support::Workers& workers : support::every_executor()) {
    CAPTURE(workers.text());
    const auto executor = make_executor(workers.executor, workers.threads);
    std::vector<std::atomic<int>> inside(executor->workers());
    std::atomic<bool> met{false};
    for (unsigned round = 0; round < 300; ++round) {
      executor->share([&](unsigned worker) {
        if (inside[worker]++ != 0) met = true;
        for (int spin = 0; spin < 100; ++spin) std::atomic_signal_fence(std::memory_order_seq_cst);
        --inside[worker];
      });
      if (round % 5 == 0) executor->release();
    }
    CHECK_FALSE(met);
  }
}

TEST_CASE("threads come and work together, also on one core", "[unit]") {
  for (const ExecutorKind kind : {ExecutorKind::threads, default_executor}) {
    CAPTURE(name(kind));
    const auto executor = make_executor(kind, 2);
    // Each waits for the other: this hangs if nobody else comes.
    std::atomic<unsigned> came{0};
    executor->share([&](unsigned) {
      ++came;
      while (came < 2) std::this_thread::yield();
    });
    CHECK(came == 2);
    CHECK(executor->threads() == 2);
  }
}

TEST_CASE("every part is done also where oneTBB lends no thread at all", "[unit]") {
  if (default_executor != ExecutorKind::tbb) return;
  const oneapi::tbb::global_control alone(oneapi::tbb::global_control::max_allowed_parallelism, 1);
  const auto executor = make_executor(ExecutorKind::tbb, 4);
  for (int round = 0; round < 20; ++round) {
    std::vector<std::atomic<int>> parts(4);
    executor->run([&](unsigned part) { ++parts[part]; });
    for (const auto& count : parts) CHECK(count == 1);
    executor->release();
  }
}

TEST_CASE("a call is for its first workers alone, and every part is done also by these", "[unit]") {
  for (const support::Workers& workers : support::every_executor()) {
    CAPTURE(workers.text());
    const auto executor = make_executor(workers.executor, workers.threads);
    std::vector<std::atomic<unsigned>> calls(executor->workers());
    bool others_called = false;
    bool nobody_twice = true;
    for (unsigned round = 0; round < 300; ++round) {
      const unsigned called = 1 + round % executor->workers();
      for (auto& count : calls) count = 0;
      executor->share(called, [&](unsigned worker) { ++calls[worker]; });
      for (unsigned worker = 0; worker < executor->workers(); ++worker) {
        nobody_twice = nobody_twice && calls[worker] <= 1;
        others_called = others_called || (worker >= called && calls[worker] > 0);
      }
      if (round % 7 == 0) executor->release();
    }
    CHECK_FALSE(others_called);
    CHECK(nobody_twice);

    std::vector<std::atomic<unsigned>> parts(executor->workers());
    executor->run(1e4, [&](unsigned part) { ++parts[part]; });  // worth four workers at most
    for (const auto& count : parts) CHECK(count == 1);
  }
}

TEST_CASE("more work is worth more workers, none of which costs more than it saves", "[unit]") {
  const auto executor = make_executor(ExecutorKind::threads, 40);
  unsigned before = 1;
  for (double ns = 1; ns < 1e9; ns *= 1.1) {
    const unsigned called = executor->worth(ns);
    CAPTURE(ns, called);
    CHECK(called >= before);
    if (called > 2) CHECK(ns / (called - 1) - ns / called > 400);  // the least that a call of one costs
    before = called;
  }
  CHECK(before == 40);
}

TEST_CASE("a short task stays on the calling thread, and threads are borrowed once the work is worth it", "[unit]") {
  CHECK(make_executor(ExecutorKind::serial, 1)->worth(1e12) == 1);
  const auto own = make_executor(ExecutorKind::threads, 2);
  CHECK(own->worth(100) == 1);
  CHECK(own->worth(1e5) == 2);
  std::vector<unsigned> parts(2);
  own->run(100, [&](unsigned part) { ++parts[part]; });
  CHECK(parts == std::vector<unsigned>{1, 1});
  if (default_executor != ExecutorKind::tbb) return;

  const auto tasks_alone = [](Executor& executor) {
    unsigned alone = 0;
    while (alone < 1000 && executor.worth(1e4) == 1) ++alone;
    return alone;
  };
  const auto lent = make_executor(ExecutorKind::tbb, 2);
  CHECK(lent->worth(100) == 1);
  const unsigned before_threads = tasks_alone(*lent);
  CHECK(before_threads > 0);
  CHECK(before_threads < 1000);
  {
    const OnOneCore one;  // the system is asked first whether it starts as many threads
    CHECK(tasks_alone(*make_executor(ExecutorKind::tbb, 2)) >= before_threads);
  }
  lent->run([](unsigned) {});
  CHECK(lent->worth(1e4) == 2);
  lent->release();
  const unsigned after_threads = tasks_alone(*lent);  // they only have to wake up
  CHECK(after_threads > 0);
  CHECK(after_threads < before_threads);
}

TEST_CASE("the default number of workers is that of the cores that this process may use", "[unit]") {
  const unsigned cores = workers_of(ExecutorKind::threads, 0);
  {
    const OnOneCore one;
    CHECK(cores == static_cast<unsigned>(one.cores_before()));
    CHECK(workers_of(ExecutorKind::tbb, 0) == 1);
  }
  CHECK(workers_of(ExecutorKind::tbb, 7) == 7);
  CHECK(workers_of(ExecutorKind::serial, 7) == 1);
}

TEST_CASE("a thread that shares its core has waited for it", "[unit]") {
  const auto says = std::ifstream("/proc/self/task/" + std::to_string(gettid()) + "/schedstat").good();
  CHECK(waited_for_core_s(-1) == 0);
  if (!says) return;
  const OnOneCore one;
  const double at_first = waited_for_core_s(gettid());
  std::atomic<bool> over{false};
  std::jthread other([&over] {
    while (!over) std::atomic_signal_fence(std::memory_order_seq_cst);
  });
  while (waited_for_core_s(gettid()) <= at_first) std::atomic_signal_fence(std::memory_order_seq_cst);
  over = true;
}
