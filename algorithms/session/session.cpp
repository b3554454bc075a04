#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <fmt/format.h>
#include <memory>
#include <new>
#include <numeric>
#include <thread>
#include <utility>

#include <torus/error.hpp>
#include <torus/report.hpp>
#include <torus/session.hpp>

#include "algorithms/barrier_witness.hpp"
#include "algorithms/session/common_clock.hpp"
#include "algorithms/session/joint_books.hpp"
#include "runtime/base/figures.hpp"
#include "runtime/base/host.hpp"
#include "runtime/engine/estimate.hpp"
#include "runtime/engine/processes/together.hpp"

namespace torus {
namespace {

using detail::CommonClock;
using detail::JointBooks;
using detail::JointMember;

constexpr std::size_t most_members = 64;

/// The proof of a barrier, which has no bytes to verify.
class Witness : public Watcher {
 public:
  Witness(const Topology& topology, const Groups* groups) : witness_{topology, groups} {}
  void step(const StepSends& sends) override { witness_.step(sends.messages); }
  void complete(RunResult& result) override { objection_ = witness_.judge(result); }
  std::optional<std::string> objection(const Run&) override { return objection_; }

 private:
  BarrierWitness witness_;
  std::optional<std::string> objection_;
};

/// The observer of a plan.
class Observer : public Watcher {
 public:
  explicit Observer(std::unique_ptr<RunObserver> observer) : observer_{std::move(observer)} {}
  void step(const StepSends& sends) override {
    if (!sends.messages.empty()) observer_->step(sends.messages);
  }
  std::vector<Observation> finish() { return observer_->finish(); }

 private:
  std::unique_ptr<RunObserver> observer_;
};

/// A member while the session lasts.
struct Seat {
  Seat(const Member& asked_, std::string name_) : asked{asked_}, name{std::move(name_)} {}

  const Member& asked;
  const std::string name;                   ///< for texts; empty: it is the only one
  Run run;                                  ///< of the first repetition
  RunResult again = {};                     ///< of a later one
  ProgramMemory programs;                   ///< beside the engine
  std::optional<Placement> placement = {};  ///< of a group's nodes, where there are groups
  Bytes memory = 0;                         ///< of several: what its engine may use
  std::optional<Witness> witness = {};
  std::optional<Observer> observer = {};
  std::vector<Watcher*> watchers = {};  ///< that look on: these two and those that are asked for
  std::optional<TraceHeader> header = {};
  std::optional<Engine> engine = {};
  StepSends sends = {};  ///< of the present step, until it is closed
  bool begun = false;
  std::exception_ptr thrown = {};

  const Groups* groups() const noexcept { return asked.groups ? &*asked.groups : nullptr; }
  std::string text(std::string_view what) const { return name.empty() ? std::string(what) : fmt::format("{}: {}", name, what); }
};

/// Plans, and works out all that a run needs to know.
void prepare(const Machine& machine, Seat& seat) {
  const Member& asked = seat.asked;
  if (asked.algorithm == nullptr) throw InputError(seat.text("it has no algorithm"));
  if (asked.offset > Member::max_offset)
    throw InputError(seat.text(fmt::format("offset {}: it must be at most {}", asked.offset, Member::max_offset)));
  const Machine seen = asked.groups ? asked.groups->machine(machine) : machine;
  if (const auto refusal = refuses(*asked.algorithm, seen, asked.request)) throw InputError(seat.text(text(*refusal)));
  seat.run.bounds = asked.bounds ? *asked.bounds : lower_bounds(seen, asked.request, seat.groups());
  PlanCache cache;
  seat.run.plan = asked.plan ? *asked.plan : make_plan(*asked.algorithm, seen, asked.request, cache, &seat.run.bounds);
  seat.placement = placement_of(seen, asked.request, seat.run.plan);
  seat.programs = memory_beside_engine(machine, asked.request, seat.run.plan, seat.groups());
}

/// Rethrows what a collective's programs threw, with its name: an InputError and std::bad_alloc as such, all else as a RunError.
[[noreturn]] void rethrow_naming(const Seat& seat) {
  try {
    std::rethrow_exception(seat.thrown);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const InputError& error) {
    std::throw_with_nested(InputError(seat.text(error.what())));
  } catch (const std::exception& error) {
    std::throw_with_nested(RunError(seat.text(error.what())));
  }
}

/// Gives all processes the verdict of process 0, which alone sees the messages. There are no faults on several processes, to which a
/// witness would object.
void share_verdict(Processes& processes, RunResult& result) {
  struct Verdict {
    bool verified, wrong;
    WrongDelivery what;
  };
  const Verdict mine{result.verified, result.wrong.has_value(), result.wrong.value_or(WrongDelivery{})};
  const Verdict verdict = detail::exchange_each(processes, mine).front();
  result.verified = verdict.verified;
  result.wrong = verdict.wrong ? std::optional(verdict.what) : std::nullopt;
}

class Session {
 public:
  Session(const Machine& machine, std::span<const Member> members, const SessionOptions& options)
      : machine_{machine},
        options_{options},
        processes_{options.processes},
        looks_{processes_ == nullptr || processes_->self() == 0},
        several_{members.size() > 1} {
    if (members.empty()) throw InputError("no collectives: at least one must run");
    if (members.size() > most_members)
      throw InputError(fmt::format("{} collectives at once: there may be at most {}", members.size(), most_members));
    if (several_) refuse_what_is_of_one();
    for (std::size_t i = 0; i < members.size(); ++i) {
      const std::string name = !members[i].name.empty() ? members[i].name : name_of_member(i, members[i].request.collective);
      Seat& seat = seats_.emplace_back(members[i], several_ ? name : "");
      prepare(machine_, seat);
      add_watchers(seat);
    }
    if (several_) detail::run_on_all(processes_, [this] { work_out_memory(); });
    for (std::size_t i = 0; i < seats_.size(); ++i) make_engine(i);
    if (several_) make_clock();
    detail::run_on_all(processes_, [this] {
      for (Seat& seat : seats_) {
        for (Watcher* watcher : seat.watchers) watcher->begin(*seat.header, *seat.engine);
      }
    });
  }

  SessionRun run() {
    for (bool last = false; !last && repetition_ < options_.repeat; ++repetition_) {
      run_all();
      for (Seat& seat : seats_) last = !settle(seat) || last;
      if (processes_ != nullptr) last = detail::exchange_each(*processes_, last || kept_ != nullptr).front();
      if (kept_) std::rethrow_exception(kept_);
    }
    for (Seat& seat : seats_) {
      if (seat.observer) seat.run.observations = seat.observer->finish();
      result_.each.push_back(std::move(seat.run));
    }
    result_.interrupted = result_.interrupted || (!several_ && result_.each.front().interrupted);
    result_.failure = failure();
    return std::move(result_);
  }

 private:
  void refuse_what_is_of_one() const {
    if (options_.repeat > 1) throw InputError(fmt::format("repeat {}: several collectives at once run once", options_.repeat));
    if (options_.on_messages || options_.on_phase)
      throw InputError("on_messages and on_phase are for a session of one collective; several have watchers");
  }

  void add_watchers(Seat& seat) {
    const Member& asked = seat.asked;
    if (!looks_) return;
    const bool observes = asked.observe && seat.run.plan.observe && !asked.groups;  // an observer knows the nodes of one group
    if (observes) seat.watchers.push_back(&seat.observer.emplace(seat.run.plan.observe()));
    if (is_witnessed(seat)) seat.watchers.push_back(&seat.witness.emplace(machine_.topology, seat.groups()));
    seat.watchers.insert(seat.watchers.end(), asked.watchers.begin(), asked.watchers.end());
    if (!seat.watchers.empty())
      seat.header = header_of(machine_, seat.groups(), asked.request, seat.run.plan, asked.algorithm->name, options_.seed);
  }
  bool is_witnessed(const Seat& seat) const { return seat.asked.request.collective == Collective::barrier && options_.verify; }

  /// Works out the workers and the memory of each of several. Throws InputError if all need more than the limit; 0: the host's.
  void work_out_memory() {
    const auto count = static_cast<unsigned>(seats_.size());
    const detail::Slab own =
        processes_ == nullptr ? detail::Slab(machine_.topology) : detail::Slab(machine_.topology, processes_->count(), processes_->self());
    // On several processes they go on one after the other.
    const unsigned sharing = processes_ == nullptr ? count : processes_->on_these_cores();
    threads_ = options_.threads > 0 ? options_.threads : std::max(1U, workers_of(options_.executor, 0) / sharing);
    Bytes needed = JointBooks::bytes(machine_, count), limit = options_.memory_limit;
    std::string each;
    for (Seat& seat : seats_) {
      const detail::Members members(machine_, *seat.placement, seat.groups());
      const unsigned workers = workers_of(options_.executor, threads_);
      seat.memory = detail::estimate_of(machine_, members, own, seat.programs, workers).total();
      needed += std::min(seat.memory, detail::out_of_reach / most_members);
      each += fmt::format("{}{} {}", each.empty() ? "" : ", ", seat.name, bytes_text(seat.memory));
    }
    if (limit == 0) limit = usable_memory(needed);
    for (Seat& seat : seats_) seat.memory += (limit - std::min(limit, needed)) / count;
    if (needed <= limit) return;
    throw InputError(
        fmt::format("{} collectives at once need {} ({}) and {} may be used; choose fewer bytes or a smaller shape, or run one "
                    "after the other",
                    count, bytes_text(needed), each, bytes_text(limit)));
  }

  /// Gives the engine callbacks only where somebody looks on: else a step costs what it costs the engine alone.
  void make_engine(std::size_t i) {
    Seat& seat = seats_[i];
    RunOptions options = options_;
    options.programs += fmt::format("algorithm {}\n", seat.asked.algorithm->name);
    options.program_memory = seat.programs;
    if (seat.asked.watch != nullptr) options.watch = seat.asked.watch;
    if (several_) {
      options.threads = threads_;
      options.fewer_threads_do = options_.fewer_threads_do || options_.threads == 0;
      options.memory_limit = seat.memory;
      if (is_elsewhere(options.fault, seat)) options.fault.reset();
    }
    if (several_ || processes_ != nullptr) options.stop = &stop_;
    const bool watched = several_ || !seat.watchers.empty();
    if (watched) {
      options.on_messages = [this, &seat](std::span<const Message* const> messages) {
        seat.sends.messages = messages;
        if (options_.on_messages) options_.on_messages(messages);
      };
      options.on_phase = [this, &seat](const char* phase) {
        seat.sends.phase = phase;
        if (options_.on_phase) options_.on_phase(phase);
      };
    }
    if (watched || processes_ != nullptr) {
      options.on_step = [this, &seat, i](Step step) {
        StepSends sends = std::exchange(seat.sends, {});
        sends.step = step;
        sends.runs = true;
        if (several_) return clock_->arrive(i, sends);
        end_step(seat, sends);
      };
    }
    seat.engine.emplace(
        torus::make_engine(machine_, seat.asked.request, seat.run.plan, *seat.placement, std::move(options), seat.groups()));
  }

  /// Whether a fault is at a node that takes no part in a collective.
  bool is_elsewhere(const std::optional<Fault>& fault, const Seat& seat) const {
    return fault && fault->node < machine_.topology.nodes() && seat.groups() != nullptr &&
           seat.groups()->group_of(fault->node) == Groups::none;
  }

  void make_clock() {
    std::vector<Step> offsets;
    for (const Seat& seat : seats_) {
      joint_.push_back({seat.name, &*seat.engine, &*seat.placement});
      offsets.push_back(seat.asked.offset);
    }
    books_.emplace(machine_, joint_, processes_);
    clock_.emplace(offsets,
                   CommonClock::Close{[this](Step step, std::span<const StepSends> sends) { return close(step, sends); },
                                      [this](Step steps) { books_->idle(steps, result_); }},
                   stop_, processes_ != nullptr);
  }

  /// Runs each once: one on this thread, several on a thread each. Several processes do the same in the same order: one member goes on at a
  /// time, since its barriers are exchanges of all processes.
  void run_all() {
    if (!several_) {
      Seat& seat = seats_.front();
      seat.begun = true;
      result_of(seat) = seat.engine->run(seat.run.plan.start);
      return;
    }
    std::vector<std::jthread> threads;
    try {
      for (std::size_t i = 0; i < seats_.size(); ++i) threads.emplace_back([this, i] { run_beside_others(i); });
    } catch (const std::exception&) {
      const std::size_t started = threads.size();
      for (std::size_t i = started; i < seats_.size(); ++i) clock_->leave(i, false);
      threads.clear();  // waits until those have ended
      throw RunError(fmt::format("{} collectives at once: the system starts no more than {} threads for them", seats_.size(), started));
    }
    threads.clear();
    for (const Seat& seat : seats_) {
      if (seat.thrown) rethrow_naming(seat);
    }
    clock_->rethrow();
    books_->close(result_);
  }

  void run_beside_others(std::size_t i) noexcept {
    Seat& seat = seats_[i];
    bool good = false;
    if (clock_->begin(i)) {
      seat.begun = true;
      try {
        seat.run.result = seat.engine->run(seat.run.plan.start);
        good = seat.run.result.good();
      } catch (...) {
        seat.thrown = std::current_exception();
      }
    }
    clock_->leave(i, good);
  }

  /// At the end of a step of one that runs alone.
  void end_step(const Seat& seat, const StepSends& sends) {
    look([&] {
      if (repetition_ == 0) show(seat, sends);
      if (options_.on_step) options_.on_step(sends.step);
    });
    if (asked_to_stop()) stop_ = true;
  }

  /// At the end of a global step. True: all must stop.
  bool close(Step step, std::span<const StepSends> sends) {
    if (stop_) return true;  // several processes end a step later
    const double model_time_s = books_->step(step, sends, result_);
    look([&] {
      for (std::size_t i = 0; i < seats_.size(); ++i) {
        if (!sends[i].runs) continue;
        seats_[i].run.span_s += model_time_s;
        show(seats_[i], sends[i]);
      }
      if (options_.on_step) options_.on_step(step);
    });
    result_.interrupted = asked_to_stop();
    const bool stop = result_.interrupted || result_.violations_found > 0 || kept_ != nullptr;
    return processes_ == nullptr ? stop : detail::exchange_each(*processes_, stop).front();
  }

  static void show(const Seat& seat, const StepSends& sends) {
    for (Watcher* watcher : seat.watchers) watcher->step(sends);
  }

  /// Has watchers look. What they throw would leave other processes waiting, so that it is kept until all have ended their run.
  template <class F>
  void look(F&& f) {
    if (processes_ == nullptr) return f();
    try {
      if (!kept_) f();
    } catch (...) {
      kept_ = std::current_exception();
      stop_ = true;
    }
  }

  bool asked_to_stop() const noexcept { return options_.stop != nullptr && options_.stop->load(std::memory_order_relaxed); }

  /// What holds of the first run holds of all: they must have its trace digest.
  RunResult& result_of(Seat& seat) const noexcept { return repetition_ == 0 ? seat.run.result : seat.again; }

  /// Holds a run against its plan, the bounds, and what the watchers have seen. True: it may be repeated.
  bool settle(Seat& seat) {
    Run& run = seat.run;
    RunResult& result = result_of(seat);
    if (!seat.begun) result.interrupted = true;
    const bool first = repetition_ == 0;
    if (first)
      look([&] {
        for (Watcher* watcher : seat.watchers) watcher->complete(result);
      });
    if (first && processes_ != nullptr && is_witnessed(seat)) share_verdict(*processes_, result);
    run.interrupted = result.interrupted;
    if (!result.interrupted) run.run_s.push_back(result.run_s);
    run.check = check(machine_, seat.asked.request, run.plan, run.bounds, result, seat.groups());
    std::optional<std::string>& failure = run.check.failure;
    note_repetition(failure, run.result, result, repetition_ + 1, options_.repeat);
    if (result.interrupted && several_ && !result_.interrupted)
      failure = seat.begun ? fmt::format("stopped after step {}", result.steps) : std::string("stopped before it began");
    if (first)
      look([&] {
        for (Watcher* watcher : seat.watchers) {
          if (!failure) failure = watcher->objection(run);
        }
      });
    const bool more = !options_.on_run || options_.on_run(result);
    return more && !failure;
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
      for (std::size_t i = 0; i < seats_.size(); ++i) {
        const Run& run = result_.each[i];
        if (run.check.failure && run.interrupted == stopped) return seats_[i].text(*run.check.failure);
      }
    }
    return std::nullopt;
  }

  const Machine& machine_;
  const SessionOptions& options_;
  Processes* const processes_;  // null: this one alone
  const bool looks_;            // at messages: of several processes the first
  const bool several_;
  std::atomic<bool> stop_{false};  // for the engines, where other than the caller may stop them
  std::exception_ptr kept_;
  std::deque<Seat> seats_;
  unsigned repetition_ = 0;
  SessionRun result_;

  // What only a session of several has.
  unsigned threads_ = 0;  // workers of each
  std::vector<JointMember> joint_;
  std::optional<JointBooks> books_;
  std::optional<CommonClock> clock_;
};

std::vector<std::vector<NodeId>> lists_of(const Groups* groups) {
  std::vector<std::vector<NodeId>> lists;
  for (NodeId group = 0; groups != nullptr && group < groups->count(); ++group)
    lists.emplace_back(groups->members(group).begin(), groups->members(group).end());
  return lists;
}

}  // namespace

std::string name_of_member(std::size_t index, Collective collective) { return fmt::format("{} {}", index + 1, name(collective)); }

void note_repetition(std::optional<std::string>& failure, const RunResult& first, const RunResult& again, unsigned repetition,
                     unsigned of) {
  if (again.interrupted && of > 1)
    failure = fmt::format("interrupted in repetition {} of {}", repetition, of);
  else if (!failure && again.trace_digest != first.trace_digest)
    failure = fmt::format("repetition {} had another trace digest than the first", repetition);
}

TraceHeader header_of(const Machine& machine, const Groups* groups, const Request& request, const Plan& plan, std::string_view algorithm,
                      std::uint64_t seed) {
  const bool combines = facts_of(request.collective).combines;
  const bool cut = combines || facts_of(request.collective).replicates();
  const Bytes element = unit_of(request.collective, request.reduction);
  const Topology& seen = groups == nullptr ? machine.topology : groups->topology();
  std::vector<Bytes> sizes = sizes_of_blocks(groups == nullptr ? machine : groups->machine(machine), request, plan);
  const Bytes least = sizes.empty() ? 0 : *std::min_element(sizes.begin(), sizes.end());
  // Where all nodes take part, the sources of a request say nothing, and a header names all or none.
  const bool names = facts_of(request.collective).names_sources() || request.sources.size() == seen.living_nodes();
  return {.machine = machine,
          .collective = std::string(name(request.collective)),
          .sources = names ? request.sources : std::vector<NodeId>(),
          .segments = plan.segments,
          .block_bytes = !sizes.empty() ? least
                         : cut          ? request.bytes / element / plan.segments * element
                                        : request.bytes,
          .algorithm = std::string(algorithm),
          .seed = seed,
          .reduction = combines ? std::optional(request.reduction) : std::nullopt,
          .registers = plan.registers,
          .sizes = std::move(sizes),
          .groups = lists_of(groups)};
}

double SessionRun::one_after_the_other_s() const noexcept {
  return std::accumulate(each.begin(), each.end(), 0.0, [](double sum, const Run& run) { return sum + run.result.model_time_s; });
}

bool SessionRun::verified() const noexcept {
  return !failure && std::all_of(each.begin(), each.end(), [](const Run& run) { return run.result.verified; });
}

SessionRun run_session(const Machine& machine, std::span<const Member> members, const SessionOptions& options) {
  return Session(machine, members, options).run();
}

Run run(const Algorithm& algorithm, const Machine& machine, const Request& request, const RunOptions& options) {
  const Member member{.algorithm = &algorithm, .request = request};
  return std::move(run_session(machine, {&member, 1}, {options}).each.front());
}

Run run(const Algorithm& algorithm, const Machine& machine, const Groups& groups, const Request& request, const RunOptions& options) {
  const Member member{.algorithm = &algorithm, .request = request, .groups = groups};
  return std::move(run_session(machine, {&member, 1}, {options}).each.front());
}

}  // namespace torus
