#include "tools/torus/setting/planning.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <fmt/format.h>
#include <future>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <pthread.h>
#include <string_view>
#include <sys/resource.h>
#include <system_error>
#include <thread>
#include <time.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <torus/error.hpp>
#include <torus/run.hpp>

#include "runtime/base/figures.hpp"
#include "runtime/base/host.hpp"

namespace torus::command {
namespace {

using Clock = std::chrono::steady_clock;

std::atomic<bool> given_up = false;

/// What a planner works on. It may outlive the caller.
struct Work {
  Work(const Algorithm& what, const Machine& where, const Request& asked, PlanCache searches)
      : algorithm{what}, machine{where}, request{asked}, cache{std::move(searches)} {}

  const Algorithm& algorithm;
  const Machine machine;
  const Request request;
  PlanCache cache;
  std::promise<Plan> plan;

  void run() {
    try {
      plan.set_value(algorithm.plan(machine, request, cache));
    } catch (...) {
      plan.set_exception(std::current_exception());
    }
  }
};

/// The thread on which planners work for one caller, one after another: to start one for each plan would take longer than most plans.
class PlanningThread {
 public:
  PlanningThread() : thread_{[desk = desk_] { desk->serve(); }} {}
  PlanningThread(const PlanningThread&) = delete;
  PlanningThread& operator=(const PlanningThread&) = delete;
  ~PlanningThread() {
    if (!thread_.joinable()) return;
    desk_->close();
    thread_.join();
  }

  void begin(std::shared_ptr<Work> work) { desk_->take(std::move(work)); }
  /// Whether the plan that began at `start` ends within so many seconds. Those in which the thread was ready and waited for a core are not
  /// counted: a busy host makes no planner late.
  bool ends_within(const std::future<Plan>& plan, double seconds, Clock::time_point start) {
    while (Clock::now() - start < soon) {  // sooner than a sleeper wakes
      if (plan.wait_for(std::chrono::seconds(0)) == std::future_status::ready) return true;
      std::this_thread::yield();
    }
    const double waited_s = waited_for_core_s(desk_->thread);
    used_before_s_ = used_s();
    for (double left = seconds; left > 0 || desk_->thread == 0;) {  // 0: it has not begun
      if (plan.wait_for(std::chrono::duration<double>(std::max(left, 0.001))) == std::future_status::ready) return true;
      left = seconds - std::chrono::duration<double>(Clock::now() - start).count() + waited_for_core_s(desk_->thread) - waited_s;
    }
    return false;
  }
  /// Leaves a planner that did not end in time to itself, as idle work. Returns for how many seconds it has worked.
  double give_up() {
    const double worked_s = used_s() - used_before_s_;
    static_cast<void>(::setpriority(PRIO_PROCESS, static_cast<id_t>(desk_->thread.load()), 19));  // it should not spoil timings
    desk_->close();
    thread_.detach();
    return worked_s;
  }

 private:
  static constexpr std::chrono::microseconds soon{50};

  /// What the thread and its caller share. It may outlive the caller.
  class Desk {
   public:
    std::atomic<pid_t> thread = 0;

    void take(std::shared_ptr<Work> work) {
      const std::lock_guard lock(mutex_);
      work_ = std::move(work);
      changed_.notify_one();
    }
    void close() {
      const std::lock_guard lock(mutex_);
      closed_ = true;
      changed_.notify_one();
    }
    void serve() {
      thread = ::gettid();
      for (std::unique_lock lock(mutex_);;) {
        changed_.wait(lock, [this] { return closed_ || work_; });
        if (!work_) return;
        const std::shared_ptr<Work> work = std::move(work_);
        lock.unlock();
        work->run();
        lock.lock();
      }
    }

   private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::shared_ptr<Work> work_;
    bool closed_ = false;
  };

  double used_s() {
    clockid_t clock;
    timespec used{};
    if (::pthread_getcpuclockid(thread_.native_handle(), &clock) == 0) static_cast<void>(::clock_gettime(clock, &used));
    return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
  }

  std::shared_ptr<Desk> desk_ = std::make_shared<Desk>();
  double used_before_s_ = 0;
  std::thread thread_;
};

/// The algorithms whose planners were given up while they waited and did not work: for a lock, or another program.
std::vector<const Algorithm*>& found_waiting() {
  static std::vector<const Algorithm*> algorithms;
  return algorithms;
}

/// What is said of a planner that does not end in time.
Planned too_long(const Algorithm& algorithm, double seconds, double taken, std::string_view verb) {
  return {
      .plan = std::nullopt,
      .seconds = taken,
      .why_not = fmt::format("planning {} {} more than {}; a larger --plan-time waits for it", algorithm.name, verb, seconds_text(seconds)),
      .fault = true,
      .too_long = true};
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

/// Planned::model_time_s.
double time_of(const Machine& machine, const Plan& plan) {
  if (!plan.predicts()) return std::numeric_limits<double>::infinity();
  double time_s = plan.model_time_s(machine.cost);
  if (!plan.route_hops) {
    const double longest = machine.switching == Switching::packet ? 1 : machine.topology.diameter();
    time_s += machine.cost.hop_s * longest * static_cast<double>(plan.likely_steps());
  }
  return time_s;
}

}  // namespace

Planned plan_within(const Algorithm& algorithm, const Machine& machine, const Request& request, const Bounds& bounds, double seconds,
                    PlanCache* cache) {
  if (std::find(found_waiting().begin(), found_waiting().end(), &algorithm) != found_waiting().end())
    return too_long(algorithm, seconds, 0, "has once waited");
  const Clock::time_point start = Clock::now();
  const auto work = std::make_shared<Work>(algorithm, machine, request, cache != nullptr ? *cache : PlanCache());
  std::future<Plan> plan = work->plan.get_future();
  static thread_local std::optional<PlanningThread> thread;  // processes may be threads, and each plans for itself
  try {
    if (!thread) thread.emplace();
    thread->begin(work);
  } catch (const std::system_error&) {  // no room for a thread: then without a limit
    work->run();
  }
  if (thread && !thread->ends_within(plan, seconds, start)) {
    given_up = true;
    if (thread->give_up() < seconds / 2) found_waiting().push_back(&algorithm);
    thread.reset();
    return too_long(algorithm, seconds, seconds, "took");
  }
  Planned planned;
  if (cache != nullptr) *cache = std::move(work->cache);
  const auto taken = [start] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  planned.seconds = taken();
  try {
    planned.plan = plan.get();
    if (planned.plan->start) {
      const double mean_s = time_of(machine, *planned.plan);
      predict_sizes(machine, request, *planned.plan, std::max(seconds - planned.seconds, seconds / 2));
      planned.of_mean_size = std::isfinite(mean_s) && !planned.plan->predicts();
      set_aside_incomplete(*planned.plan, machine, request, bounds);
      if (machine.cost.hop_s > 0 && planned.plan->predicts() && !planned.plan->route_hops)
        planned.plan->route_hops = count_hops(machine, request, *planned.plan, std::max(seconds - planned.seconds, seconds / 2));
      planned.seconds = taken();
      check_prediction(algorithm, machine, request, *planned.plan, bounds);
      planned.model_time_s = planned.of_mean_size ? mean_s : time_of(machine, *planned.plan);
      return planned;
    }
    planned.fault = true;
    planned.why_not = fmt::format("{} cannot be planned: its plan has no program; set .start", algorithm.name);
  } catch (const InputError& error) {
    planned.why_not = one_line(error.what());
  } catch (const PredictionError& error) {
    planned.fault = true;
    planned.why_not = one_line(error.what());
  } catch (const RunError& error) {
    planned.why_not = one_line(error.what());
  } catch (const std::bad_alloc&) {
    planned.why_not = fmt::format("there is not enough memory to plan {}", algorithm.name);
  } catch (const std::exception& error) {
    planned.fault = true;
    planned.why_not = fmt::format("{} cannot be planned: {}", algorithm.name, one_line(error.what()));
  } catch (...) {
    planned.fault = true;
    planned.why_not = fmt::format("{} cannot be planned: its planner throws what is no std::exception", algorithm.name);
  }
  planned.plan.reset();
  return planned;
}

bool planner_given_up() noexcept { return given_up; }

}  // namespace torus::command
