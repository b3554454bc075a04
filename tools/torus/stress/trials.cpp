#include "tools/torus/stress/trials.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <fmt/format.h>
#include <set>
#include <utility>

#include <torus/report.hpp>

#include "runtime/base/figures.hpp"
#include "runtime/engine/processes/thread_processes.hpp"
#include "tools/torus/cli/console.hpp"
#include "tools/torus/run/emulation.hpp"
#include "tools/torus/stress/beside.hpp"
#include "tools/torus/stress/repeat.hpp"

namespace torus::command {
namespace {

/// What must be the same on every executor.
bool same_run(const RunResult& a, const RunResult& b) noexcept {
  return a.trace_digest == b.trace_digest && a.steps == b.steps && a.busy_steps == b.busy_steps && a.messages == b.messages &&
         a.hops == b.hops && a.bytes_delivered == b.bytes_delivered && a.duplicates == b.duplicates &&
         a.max_channel_load == b.max_channel_load && a.channel_bytes_sum == b.channel_bytes_sum && a.model_time_s == b.model_time_s;
}

/// What repeats a run.
std::string command_of(const Setting& setting, bool judge) { return command_line(setting) + (judge ? " --judge" : ""); }

constexpr std::string_view exception = "exception: ";

/// A failing run, which its command repeats.
CaseFailure failing(const std::string& failure, std::string command) {
  const std::string_view words = failure;  // `torus run` prints what an exception says, and no word before it
  const std::string_view said = words.starts_with(exception) ? words.substr(exception.size()) : words;
  return {failure, std::move(command), std::string(said.substr(0, said.find('\n')))};
}

Run emulate_safely(const Setting& setting, bool judged, bool fewer_threads_do = true) {
  Run run;
  now_running(command_of(setting, judged));
  const auto emulate_on = [&](Processes* processes) {
    std::deque<JudgeWatcher> judges(judged ? setting.classes().size() : 0);
    std::vector<std::vector<Watcher*>> looking;
    for (JudgeWatcher& judge : judges) looking.push_back({&judge});
    SessionOptions options;
    options.processes = processes;
    options.stop = &interrupted();
    options.fewer_threads_do = fewer_threads_do;
    Run seen = emulate(setting, options, std::move(looking));
    if (processes == nullptr || processes->self() == 0) run = std::move(seen);
  };
  try {
    if (setting.processes == 1)
      emulate_on(nullptr);
    else
      detail::run_as_processes(setting.processes, [&](Processes& processes) { emulate_on(&processes); });
  } catch (const std::exception& error) {
    run.check.failure = std::string(exception) + error.what();
  }
  now_running({});
  return run;
}

/// The same schedule with fewer bytes: the same steps and messages, which take no longer in model time.
std::optional<CaseFailure> longer_with_fewer(const Setting& setting, Bytes fewer, const RunResult& with_all) {
  const auto with_fewer = [fewer](Setting& less) {
    less.request.bytes = fewer;
    less.plan.formula.clear();  // which is for all bytes
    less.bounds = lower_bounds(less.machine, less.request, less.groups_or_null());
  };
  Setting less = setting;
  with_fewer(less);
  for (Setting& other : less.others) with_fewer(other);
  const Run run = emulate_safely(less, false);
  const std::string what = fmt::format("the schedule of {}, played with {}", counted(setting.request.bytes, "byte"), fewer);
  if (run.check.failure) return CaseFailure{fmt::format("{}: {}", what, *run.check.failure), command_line(setting), *run.check.failure};
  if (run.result.steps == with_all.steps && run.result.messages == with_all.messages && run.result.model_time_s <= with_all.model_time_s)
    return std::nullopt;
  return CaseFailure{fmt::format("{}, takes {}, {} and {} s, not {}, {} and {} s", what, counted(run.result.steps, "step"),
                                 counted(run.result.messages, "message"), run.result.model_time_s, with_all.steps, with_all.messages,
                                 with_all.model_time_s),
                     command_line(setting), "takes"};
}

/// Fewer bytes, of whole elements.
Bytes fewer_bytes(Random& random, const Request& request) {
  const Bytes element = unit_of(request.collective, request.reduction), elements = request.bytes / element;
  return element * (random.below(2) == 0 ? elements / 2 : random.below(elements + 1));
}

/// What the trials of an algorithm came to.
struct Trials {
  StressRow row;
  std::set<std::string> shapes;
  std::set<std::pair<std::string, std::vector<NodeId>>> sources;
};

}  // namespace

void SpecialRuns::add(const Setting& setting) {
  const bool grouped = setting.grouped(), differing = sizes_differ(setting.machine.topology, setting.request);
  in_groups += grouped ? 1 : 0;
  uneven += differing ? 1 : 0;
  both += grouped && differing ? 1 : 0;
  mapped += setting.map ? 1U : 0U;
}

std::optional<CaseFailure> failure_of(const StressCase& stress_case, RunResult& result) {
  Run first = emulate_safely(stress_case.setting, false, !stress_case.threads_typed);
  if (first.check.failure) return failing(*first.check.failure, command_of(stress_case.setting, false));
  Setting again = stress_case.setting;
  again.executor = stress_case.other;
  again.threads = stress_case.other_threads;
  again.processes = std::min(stress_case.other_processes, again.whole().topology.nodes());
  const Run second = emulate_safely(again, true);
  if (second.check.failure) return failing(*second.check.failure, command_of(again, true));
  if (!same_run(first.result, second.result)) {
    return CaseFailure{fmt::format("executor {} with {} and executor {} with {} on {} do not agree: digests {} and {}, {} and {} steps",
                                   name(stress_case.setting.executor), counted(stress_case.setting.threads, "thread"), name(again.executor),
                                   again.threads, counted(again.processes, "process", "processes"), digest_text(first.result.trace_digest),
                                   digest_text(second.result.trace_digest), first.result.steps, second.result.steps),
                       command_line(stress_case.setting) + " --digest " + digest_text(second.result.trace_digest), "the trace digest is "};
  }
  if (stress_case.fewer && *stress_case.fewer < stress_case.setting.request.bytes) {
    if (auto found = longer_with_fewer(stress_case.setting, *stress_case.fewer, first.result)) return found;
  }
  if (stress_case.beside && stress_case.setting.others.empty()) {
    // One time in four it begins when the first has ended, where they cannot meet.
    const std::uint64_t number = *stress_case.beside, later = number % 4 == 0 ? 0 : 1 + number / 4 % (first.result.steps + 1);
    if (first.result.steps < Member::max_offset) {
      const auto wrong = wrong_beside_itself(stress_case.setting,
                                             static_cast<Step>(first.result.steps - std::min(later, first.result.steps)), first.result);
      if (wrong) return failing(wrong->what, wrong->command);
    }
  }
  result = std::move(first.result);
  return std::nullopt;
}

StressOutcome stress(const StressOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  std::vector<Trials> all(options.algorithms.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i].row.algorithm = options.algorithms[i];
  StressOutcome outcome;
  const auto stopped = [&] { return outcome.interrupted = options.stop != nullptr && options.stop->load(); };
  for (std::uint64_t number = 0; !all.empty() && number < options.runs && elapsed() < options.seconds; ++number) {
    if (stopped()) break;
    Trials& trials = all[(number + options.seed % all.size()) % all.size()];  // other seeds begin with other algorithms
    Random random(options.seed, number);
    auto setting = draw_setting(random, *trials.row.algorithm, options.budget);
    if (!setting) {
      ++trials.row.undrawn;
      continue;
    }
    // How it is run comes from numbers of its own, so that the settings do not depend on what the user fixes here.
    Random workers(options.seed ^ 0x5eed, number);
    static constexpr std::array kinds{ExecutorKind::serial, ExecutorKind::threads, default_executor};
    static constexpr std::array others{ExecutorKind::serial, ExecutorKind::shuffled, ExecutorKind::threads, default_executor};
    setting->executor = options.executor ? *options.executor : workers.one_of(kinds);
    setting->threads = options.threads > 0 ? options.threads : static_cast<unsigned>(1 + workers.below(6));
    StressCase stress_case{std::move(*setting), workers.one_of(others), static_cast<unsigned>(1 + workers.below(6)), 1};
    stress_case.threads_typed = options.threads > 0;
    const auto processes = static_cast<unsigned>(1 + workers.below(5));
    if (options.executor != ExecutorKind::serial) stress_case.other_processes = processes;  // which are threads
    if (workers.below(4) == 0) stress_case.fewer = fewer_bytes(workers, stress_case.setting.request);
    if (workers.below(6) == 0) stress_case.beside = workers.below(1U << 30U);
    if (options.progress) {
      options.progress(fmt::format("{}, {:.0f} s: {} on {}", counted(outcome.runs, "run"), elapsed(), trials.row.algorithm->name,
                                   stress_case.setting.whole().topology.text()));
    }
    RunResult result;
    const auto found = failure_of(stress_case, result);
    if (stopped()) break;  // whatever was found, of a run that was cut off
    ++outcome.runs;
    outcome.special.add(stress_case.setting);
    ++trials.row.runs;
    trials.row.most_nodes = std::max<std::uint64_t>(trials.row.most_nodes, stress_case.setting.whole().topology.nodes());
    if (!stress_case.setting.whole().topology.faults().empty()) ++trials.row.with_faults;
    trials.shapes.insert(stress_case.setting.whole().topology.text());
    trials.sources.emplace(stress_case.setting.whole().topology.text(), stress_case.setting.request.sources);
    trials.row.steps += result.steps;
    trials.row.messages += result.messages;
    trials.row.bytes += result.bytes_delivered;
    trials.row.blocks += result.blocks_delivered;
    trials.row.duplicates += result.duplicates;
    if (result.duplicates > 0 && trials.row.duplicating.empty()) trials.row.duplicating = command_line(stress_case.setting);
    if (!found || trials.row.failures++ > 0) continue;
    const StressCase shrunk = shrink(stress_case, options.stop);
    RunResult ignored;
    const auto smallest = failure_of(shrunk, ignored);
    StressFailure failure{found->what, found->command, stress_case.setting, {found->says}};
    if (!stopped() && !smallest) failure.what += " (not every time)";
    if (!stopped() && smallest) {
      failure = {smallest->what, smallest->command, shrunk.setting, {smallest->says}};
      failure.before = {found->command, 1, {found->says}};
    }
    failure.number = number + 1;
    outcome.failures.push_back(std::move(failure));
  }
  for (Trials& trials : all) {
    trials.row.shapes = trials.shapes.size();
    trials.row.sources = trials.sources.size();
    if (trials.row.runs == 0) outcome.idle.push_back(trials.row.algorithm);
    outcome.rows.push_back(trials.row);
  }
  return outcome;
}

}  // namespace torus::command
