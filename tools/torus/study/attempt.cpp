#include "tools/torus/study/attempt.hpp"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <new>
#include <utility>
#include <vector>

#include <torus/error.hpp>

#include "runtime/base/figures.hpp"
#include "tools/torus/cli/job.hpp"

namespace torus::command {
namespace {

using Kind = Outcome::Kind;

/// Does the work of an attempt, and makes what it throws an outcome: the only such list.
template <class Work>
Outcome outcome_of(const Work& work) {
  Outcome outcome;
  const auto end_as = [&outcome](Kind kind, std::string why) {
    outcome.kind = kind;
    outcome.why = std::move(why);
  };
  try {
    work(outcome);
  } catch (const InputError& error) {  // it does not fit into the memory
    end_as(Kind::no_room, error.what());
  } catch (const std::bad_alloc&) {
    end_as(Kind::no_room, "there is not enough memory");
  } catch (const std::exception& error) {
    end_as(Kind::failed, error.what());
  }
  std::replace(outcome.why.begin(), outcome.why.end(), '\n', ' ');
  if (outcome.is(Kind::failed)) outcome.run.check.failure = outcome.why;
  return outcome;
}

bool plan(Setting& setting, const Algorithm& algorithm, const Effort& effort, Outcome& outcome) {
  if (setting.algorithm == &algorithm) return true;
  Planned planned;
  auto why_not = plan_with(setting, algorithm, &planned, effort.plans, effort.bounds);
  if (!why_not) return true;
  outcome.kind = planned.why_not.empty() ? Kind::refused : Kind::unplanned;
  outcome.why = std::move(*why_not);
  outcome.too_long = planned.too_long;
  return false;
}

Run run(const Setting& setting, const Effort& effort) {
  SessionOptions options;
  options.repeat = effort.repeat;
  options.stop = &interrupted();
  options.processes = processes();
  options.keep_memory = effort.keep_memory;
  std::size_t runs = 1;
  options.on_run = [&](const RunResult& result) {
    ++runs;
    return effort.on_run == nullptr || effort.on_run(result);
  };
  options.on_step = [&](Step step) {
    if (effort.progress == nullptr || !effort.progress->due()) return;
    const std::string of_runs = options.repeat > 1 ? fmt::format(" run {},", runs) : "";
    const std::uint64_t steps = std::max<std::uint64_t>(setting.plan.likely_steps(), step);
    effort.progress->show(fmt::format("{}:{} step {} of {}", effort.what, of_runs, grouped(step), grouped(steps)));
  };
  if (!effort.judge) return emulate(setting, options);
  std::deque<JudgeWatcher> judges(setting.classes().size());
  std::vector<std::vector<Watcher*>> looking;
  for (JudgeWatcher& judge : judges) looking.push_back({&judge});
  if (!effort.judge_apart) return emulate(setting, options, looking);
  SessionOptions first = options;
  first.repeat = 1;
  first.on_run = {};
  first.keep_memory = {};  // in which the timed runs would find its blocks, which are theirs
  Run judged = emulate(setting, first, looking);
  if (judged.check.failure && effort.on_run) effort.on_run(judged.result);
  if (judged.check.failure || judged.interrupted) return judged;
  Run run = emulate(setting, options);
  if (!run.check.failure && !run.interrupted && run.result.trace_digest != judged.result.trace_digest)
    run.check.failure = "the trace digest is not that of the judged run before";
  return run;
}

}  // namespace

Outcome attempt(Setting& setting, const Algorithm& algorithm, const Effort& effort) {
  Outcome outcome = outcome_of([&](Outcome& out) {
    if (effort.progress != nullptr && effort.progress->due()) effort.progress->show(effort.what);
    if (!plan(setting, algorithm, effort, out) || !effort.run) return;
    out.run = run(setting, effort);
    out.ran = !out.run.interrupted;
    out.kind = out.run.interrupted ? Kind::interrupted : out.run.check.failure ? Kind::failed : Kind::done;
    if (out.is(Kind::failed)) out.why = *out.run.check.failure;
  });
  if (outcome.is(Kind::failed) && setting.algorithm != nullptr) outcome.repeat = command_line(setting) + " --judge";
  return outcome;
}

Outcome attempt(const RunSpec& spec, const Algorithm& algorithm, const Effort& effort, std::optional<Setting>& setting) {
  setting.reset();
  Outcome opened =
      outcome_of([&](Outcome&) { setting = open_setting(make_machine(spec, algorithm.native), make_fitting_request(spec), spec); });
  if (opened.is(Kind::failed)) throw RunError(opened.why);
  return opened.is(Kind::done) ? attempt(*setting, algorithm, effort) : opened;
}

}  // namespace torus::command
