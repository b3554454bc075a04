#include <algorithm>
#include <exception>
#include <fmt/format.h>
#include <new>
#include <numeric>
#include <thread>
#include <utility>

#include <torus/concurrent.hpp>
#include <torus/error.hpp>
#include <torus/report.hpp>

#include "algorithms/barrier_witness.hpp"
#include "algorithms/concurrent/common_clock.hpp"
#include "algorithms/concurrent/joint_books.hpp"
#include "runtime/base/figures.hpp"
#include "runtime/base/host.hpp"
#include "runtime/engine/estimate.hpp"

namespace torus {
namespace {

using detail::CommonClock;
using detail::JointBooks;
using detail::JointMember;

constexpr std::size_t most_collectives = 64;

/// One of the collectives while all run.
struct Member {
  const ConcurrentCollective* asked = nullptr;
  std::string name;
  Machine seen;  ///< that programs see: a group's, where there are groups
  Run run;
  Placement placement;  ///< of a group's nodes, where there are groups
  Bytes needed = 0;
  std::optional<BarrierWitness> witness = {};
  std::optional<Engine> engine = {};
  ConcurrentSends sends = {};  ///< of the present step, until it is closed
  double span_s = 0;
  bool begun = false;
  std::exception_ptr thrown = {};

  const Groups* groups() const noexcept { return asked->groups ? &*asked->groups : nullptr; }
};

Member make_member(const Machine& machine, const ConcurrentCollective& asked, std::size_t index, unsigned workers) {
  if (asked.algorithm == nullptr) throw InputError(fmt::format("collective {}: it has no algorithm", index + 1));
  const std::string name = name_of_concurrent(index, asked.request.collective);
  if (asked.offset > ConcurrentCollective::max_offset) {
    throw InputError(fmt::format("{}: offset {}: it must be at most {}", name, asked.offset, ConcurrentCollective::max_offset));
  }
  Machine seen = asked.groups ? asked.groups->machine(machine) : machine;
  if (const auto refusal = refuses(*asked.algorithm, seen, asked.request)) throw InputError(fmt::format("{}: {}", name, text(*refusal)));
  Bounds bounds = lower_bounds(seen, asked.request);
  PlanCache cache;
  Plan plan = asked.plan ? *asked.plan : make_plan(*asked.algorithm, seen, asked.request, cache, &bounds);
  Placement placement = placement_of(seen, asked.request, plan);
  Member member{&asked, name, std::move(seen), Run{std::move(plan), std::move(bounds), {}, {}}, std::move(placement)};
  const ProgramMemory programs = memory_beside_engine(machine, asked.request, member.run.plan, member.groups());
  member.needed = detail::estimate_of(machine, detail::Members(machine, member.placement, member.groups()), detail::Slab(machine.topology),
                                      programs, workers)
                      .total();
  return member;
}

/// What may be used beyond the needs of all. Throws InputError if these are more than the limit; 0: the host's.
Bytes left_over(const Machine& machine, std::span<const Member> members, Bytes limit) {
  Bytes needed = JointBooks::bytes(machine, members.size());
  std::string each;
  for (const Member& m : members) {
    needed += std::min(m.needed, detail::out_of_reach / most_collectives);
    each += fmt::format("{}{} {}", each.empty() ? "" : ", ", m.name, bytes_text(m.needed));
  }
  if (limit == 0) limit = usable_memory(needed);
  if (needed <= limit) return limit - needed;
  throw InputError(
      fmt::format("{} collectives at once need {} ({}) and {} may be used; choose fewer bytes or a smaller shape, or run one "
                  "after the other",
                  members.size(), bytes_text(needed), each, bytes_text(limit)));
}

/// Rethrows what a collective's programs threw, with its name: an InputError and std::bad_alloc as such, all else as a RunError.
[[noreturn]] void rethrow_naming(const Member& member) {
  try {
    std::rethrow_exception(member.thrown);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const InputError& error) {
    std::throw_with_nested(InputError(fmt::format("{}: {}", member.name, error.what())));
  } catch (const std::exception& error) {
    std::throw_with_nested(RunError(fmt::format("{}: {}", member.name, error.what())));
  }
}

/// All of a run of several.
class Concurrency {
 public:
  Concurrency(const Machine& machine, std::span<const ConcurrentCollective> collectives, const ConcurrentOptions& options)
      : machine_{machine}, options_{options} {
    if (collectives.empty()) throw InputError("no collectives: at least one must run");
    if (collectives.size() > most_collectives)
      throw InputError(fmt::format("{} collectives at once: there may be at most {}", collectives.size(), most_collectives));
    const auto count = static_cast<unsigned>(collectives.size());
    threads_ = options.threads > 0 ? options.threads : std::max(1U, workers_of(options.executor, 0) / count);
    const unsigned workers = workers_of(options.executor, threads_);
    for (std::size_t i = 0; i < collectives.size(); ++i) members_.push_back(make_member(machine, collectives[i], i, workers));
    const Bytes spare = left_over(machine, members_, options.memory_limit) / count;
    for (Member& m : members_) make_engine_of(m, spare);
    for (const Member& m : members_) {
      joint_.push_back({m.name, &*m.engine, &m.placement});
      offsets_.push_back(m.asked->offset);
    }
    books_.emplace(machine_, joint_);
    clock_.emplace(offsets_,
                   CommonClock::Close{[this](Step step, std::span<const ConcurrentSends> sends) { return close(step, sends); },
                                      [this](Step steps) { books_->idle(steps, result_); }},
                   stop_);
  }

  ConcurrentRun run() {
    run_all();
    for (const Member& m : members_) {
      if (m.thrown) rethrow_naming(m);
    }
    clock_->rethrow();
    books_->close(result_);
    for (Member& m : members_) {
      settle(m);
      result_.each.push_back({std::move(m.run), m.span_s});
    }
    result_.failure = failure();
    return std::move(result_);
  }

 private:
  void make_engine_of(Member& m, Bytes spare) {
    const ConcurrentCollective& asked = *m.asked;
    if (asked.request.collective == Collective::barrier && options_.verify) m.witness.emplace(machine_.topology, m.groups());
    RunOptions options;
    options.executor = options_.executor;
    options.threads = threads_;
    options.fewer_threads_do = options_.fewer_threads_do || options_.threads == 0;
    options.seed = options_.seed;
    options.memory_limit = m.needed + spare;
    options.verify = options_.verify;
    options.watch = asked.watch;
    options.on_phase = [&m](const char* phase) { m.sends.phase = phase; };
    options.on_messages = [&m](std::span<const Message* const> messages) { m.sends.messages = messages; };
    options.on_step = [this, &m](Step) { clock_->arrive(index_of(m), std::exchange(m.sends, {})); };
    options.stop = &stop_;
    m.engine.emplace(make_engine(machine_, asked.request, m.run.plan, std::move(options), m.groups()));
  }

  std::size_t index_of(const Member& m) const noexcept { return static_cast<std::size_t>(&m - members_.data()); }

  /// Runs each on a thread of its own until all have ended.
  void run_all() {
    std::vector<std::jthread> threads;
    try {
      for (Member& m : members_) threads.emplace_back([this, &m] { run_one(m); });
    } catch (const std::exception&) {
      const std::size_t started = threads.size();
      for (std::size_t i = started; i < members_.size(); ++i) clock_->leave(i, false);
      threads.clear();  // waits until those have ended
      throw RunError(fmt::format("{} collectives at once: the system starts no more than {} threads for them", members_.size(), started));
    }
  }

  void run_one(Member& m) noexcept {
    bool good = false;
    if (clock_->begin(index_of(m))) {
      m.begun = true;
      try {
        m.run.result = m.engine->run(m.run.plan.start);
        good = m.run.result.good();
      } catch (...) {
        m.thrown = std::current_exception();
      }
    }
    clock_->leave(index_of(m), good);
  }

  /// At the end of a global step. True: all must stop.
  bool close(Step step, std::span<const ConcurrentSends> sends) {
    const double model_time_s = books_->step(step, sends, result_);
    for (Member& m : members_) {
      const ConcurrentSends& sent = sends[index_of(m)];
      if (m.witness) m.witness->step(sent.messages);
      if (sent.runs) m.span_s += model_time_s;
    }
    if (options_.on_step) options_.on_step(step, sends);
    result_.interrupted = options_.stop != nullptr && options_.stop->load(std::memory_order_relaxed);
    return result_.interrupted || result_.violations_found > 0;
  }

  /// Completes what is known of one collective alone.
  void settle(Member& m) {
    Run& run = m.run;
    if (!m.begun) run.result.interrupted = true;
    const auto objection = m.witness ? m.witness->judge(run.result) : std::nullopt;
    run.check = check(machine_, m.asked->request, run.plan, run.bounds, run.result, m.groups());
    if (objection && !run.check.failure) run.check.failure = objection;
    if (!run.result.interrupted || result_.interrupted) return;
    run.check.failure = m.begun ? fmt::format("stopped after step {}", run.result.steps) : std::string("stopped before it began");
  }

  /// What went wrong, the cause before its consequences.
  std::optional<std::string> failure() const {
    if (!result_.violations.empty()) {
      const Violation& first = result_.violations.front();
      std::string text = fmt::format("violation, {}: {}", name(first.kind), first.text);
      if (result_.violations_found > 1) text += fmt::format(" (and {} more in that step)", grouped(result_.violations_found - 1));
      return text;
    }
    for (const bool stopped : {false, true}) {
      for (std::size_t i = 0; i < result_.each.size(); ++i) {
        const Run& run = result_.each[i].run;
        if (run.check.failure && run.result.interrupted == stopped) return fmt::format("{}: {}", members_[i].name, *run.check.failure);
      }
    }
    return std::nullopt;
  }

  const Machine machine_;
  const ConcurrentOptions& options_;
  unsigned threads_ = 0;  // workers of each
  std::atomic<bool> stop_{false};
  std::vector<Member> members_;  // does not grow once engines are made
  std::vector<JointMember> joint_;
  std::vector<Step> offsets_;
  std::optional<JointBooks> books_;
  std::optional<CommonClock> clock_;
  ConcurrentRun result_;
};

}  // namespace

std::string name_of_concurrent(std::size_t index, Collective collective) { return fmt::format("{} {}", index + 1, name(collective)); }

double ConcurrentRun::one_after_the_other_s() const noexcept {
  return std::accumulate(each.begin(), each.end(), 0.0, [](double sum, const Each& e) { return sum + e.run.result.model_time_s; });
}

bool ConcurrentRun::verified() const noexcept {
  return !failure && std::all_of(each.begin(), each.end(), [](const Each& e) { return e.run.result.verified; });
}

ConcurrentRun run_concurrently(const Machine& machine, std::span<const ConcurrentCollective> collectives,
                               const ConcurrentOptions& options) {
  return Concurrency(machine, collectives, options).run();
}

}  // namespace torus
