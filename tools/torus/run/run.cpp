/// torus run COLLECTIVE: one run, verified, with its report.
#include <algorithm>
#include <charconv>
#include <deque>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <vector>

#include <torus/error.hpp>
#include <torus/report.hpp>

#include "runtime/base/figures.hpp"
#include "runtime/base/output_file.hpp"
#include "tools/torus/cli/answer.hpp"
#include "tools/torus/cli/console.hpp"
#include "tools/torus/cli/job.hpp"
#include "tools/torus/cli/json.hpp"
#include "tools/torus/cli/options.hpp"
#include "tools/torus/run/arguments.hpp"
#include "tools/torus/run/buffer_watcher.hpp"
#include "tools/torus/run/cause.hpp"
#include "tools/torus/run/emulation.hpp"
#include "tools/torus/run/injection.hpp"
#include "tools/torus/run/page_watcher.hpp"
#include "tools/torus/run/report.hpp"
#include "tools/torus/run/several.hpp"
#include "tools/torus/setting/notation.hpp"
#include "tools/torus/setting/options.hpp"

namespace torus::command {
namespace {

std::uint64_t parse_digest(const std::string& text) {
  std::uint64_t digest = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), digest, 16);
  if (text.size() != 16 || error != std::errc{} || end != text.data() + text.size()) {
    throw InputError(fmt::format(
        "--digest '{}': a trace digest is 16 hexadecimal digits, as a report prints them; for instance 00c0ffee00c0ffee", text));
  }
  return digest;
}

/// What a program did wrong, with its algorithm; without, where classes of groups have several.
std::string blamed(const Setting& setting, std::string_view what) {
  return setting.of_one_algorithm() ? fmt::format("{}: {}", setting.algorithm->name, what) : std::string(what);
}

/// The failure of a run as the terminal says it.
std::string said(const Setting& setting, const Run& run, const SessionOptions& options) {
  const RunResult& result = run.result;
  const bool own_fault = !options.fault && (!result.violations.empty() || result.hang || result.wrong);
  return own_fault ? blamed(setting, *run.check.failure) : *run.check.failure;
}

/// A table or a page would show the groups of one class alone.
void refuse_classes(const Setting& setting, std::string_view option) {
  if (const std::size_t classes = setting.classes().size(); classes > 1) {
    throw InputError(fmt::format(
        "{}: what is dead or slow makes {} classes of the groups, and it shows one; --trace writes a trace of each", option, classes));
  }
}

int run(const RunArguments& arguments) {
  if (!arguments.parts.empty()) return run_several(arguments);
  if (arguments.offset) {
    throw InputError(fmt::format(
        "--offset {}: it is for several collectives at once; for instance torus run broadcast + allreduce --offset 3", *arguments.offset));
  }
  const Setting setting = make_setting(spec_of(arguments), arguments.algorithm, catalogue());
  Progress progress;
  SessionOptions options;
  options.stop = &interrupted();
  if (arguments.repeat) options.repeat = static_cast<unsigned>(parse_whole("--repeat", *arguments.repeat, 1, 1000000));
  if (arguments.fault) options.fault = parse_fault(*arguments.fault, setting);
  std::optional<std::uint64_t> digest;
  if (arguments.digest) digest = parse_digest(*arguments.digest);
  if (options.repeat > 1 && (arguments.trace || arguments.steps || arguments.view)) {
    const std::string_view option = arguments.trace ? "--trace" : arguments.steps ? "--steps" : "--view";
    throw InputError(fmt::format("--repeat {}: a run whose messages are looked at, by {}, is no timed run; leave out --repeat or {}",
                                 options.repeat, option, option));
  }
  options.processes = processes();
  std::optional<OutputFile> csv;
  if (arguments.csv) csv.emplace(*arguments.csv);
  std::optional<OutputFile> page;
  if (arguments.view) page.emplace(*arguments.view);
  options.on_step = [&](Step step) {
    if (!progress.due()) return;
    const std::uint64_t steps = std::max<std::uint64_t>(setting.plan.likely_steps(), step);
    progress.show(
        fmt::format("step {} of {} ({} %)", grouped(step), grouped(steps), 100 * std::uint64_t{step} / std::max<std::uint64_t>(steps, 1)));
  };

  if (arguments.steps) refuse_classes(setting, "--steps");
  if (arguments.view) refuse_classes(setting, "--view");
  std::vector<std::vector<Watcher*>> watchers(setting.classes().size());
  std::deque<TraceWatcher> traces;
  std::deque<JudgeWatcher> judges;
  std::deque<BufferWatcher> buffers;
  for (std::size_t i = 0; i < watchers.size(); ++i) {
    if (arguments.trace)
      watchers[i].push_back(&traces.emplace_back(watchers.size() == 1 ? *arguments.trace : numbered(*arguments.trace, i + 1)));
    if (arguments.judge) watchers[i].insert(watchers[i].end(), {&judges.emplace_back(), &buffers.emplace_back()});
  }
  std::optional<StepTable> steps;
  if (arguments.steps) watchers.front().push_back(&steps.emplace());
  std::optional<PageWatcher> view;
  if (arguments.view) watchers.front().push_back(&view.emplace());

  std::optional<FaultRecord> struck;
  options.on_fault = [&](const FaultRecord& record) { struck = record; };
  Run run = [&] {
    try {
      return emulate(setting, options, watchers);
    } catch (const RunError& error) {  // there is no report
      if (!struck && std::string_view(error.what()).find(", node ") != std::string_view::npos)
        throw RunError(blamed(setting, error.what()));
      if (!struck) throw;
      throw RunError(fmt::format("{}; the fault: {} (--fault {})", error.what(), struck->text,
                                 fault_text(as_struck(*options.fault, *struck), setting.whole().topology)));
    }
  }();
  std::optional<std::string>& failure = run.check.failure;
  if (!failure && digest && run.result.trace_digest != *digest)
    failure = fmt::format("the trace digest is {}, wanted {}", digest_text(run.result.trace_digest), digest_text(*digest));
  for (TraceWatcher& trace : traces) {
    if (!run.interrupted) trace.commit();
  }
  StruckFault injected;
  if (struck) {
    const Fault fault = as_struck(*options.fault, *struck);
    injected.option = fault_text(fault, setting.whole().topology);
    if (run.result.verified && !failure && !run.interrupted) injected.harmless = why_harmless(setting, fault, *struck).text;
  }
  if (options.fault && !run.result.fault && !failure && !run.interrupted) {
    failure = fmt::format("--fault '{}': there was nothing to strike: {}; --trace shows what nodes send, and when", *arguments.fault,
                          why_nothing_struck(setting, *options.fault));
  }
  if (failure && run.result.wrong) {
    if (const auto cause = cause_of(setting, run.result)) *failure += "; " + *cause;
  }
  progress.clear();
  if (csv && !run.interrupted) {
    const CsvLines lines = to_csv(to_row(setting, run));
    csv->write(lines.names + lines.values);
    csv->commit();
  }
  if (view && !run.interrupted) {
    view->view().name_phases(run.result);
    if (failure)
      view->view().fail(said(setting, run, options), command_line(setting) + (injected.option.empty() ? "" : " --fault " + injected.option),
                        run.result);
    page->write(view->view().page());
    page->commit();
  }
  const auto json = [&] {
    Json value = to_json(setting, run, injected);
    if (steps) value["step_table"] = steps->json(run.result);
    return value;
  };
  answer(arguments.json, json, [&] { return to_table(setting, run, injected) + (steps ? steps->text(run.result) : ""); });
  if (!failure) return 0;
  throw RunError(said(setting, run, options));
}

}  // namespace

RunSpec spec_of(const RunArguments& arguments) {
  RunSpec spec = parse_spec(parse_collective(arguments.collective, arguments.setting), arguments.setting);
  play(spec, arguments.schedule);
  return spec;
}

Command describe_run(RunArguments& arguments) {
  Command command{"run", "Run a collective, check every step, verify every byte, report",
                  "Several at once, on one machine: torus run allgather --groups rows + allreduce --groups columns --offset 3"};
  add_collective(command, arguments.collective);
  command.add("--algorithm", "ALGORITHM", &arguments.algorithm,
              "see `torus list`; default: the applicable one with the minimum predicted model time");
  add_setting_options(command, arguments.setting);
  add_options(command, OptionGroup::choice, arguments.setting);
  command.add("--schedule", "FILE", &arguments.schedule,
              "play the schedule of another program instead: MSCCL XML, TE-CCL JSON, ForestColl trees, or a trace");
  command.add("--repeat", "R", &arguments.repeat, "timed repetitions in this process");
  command.add_output("--trace", ".jsonl", &arguments.trace, "write every message to this file, compressed if it ends in .gz");
  command.add_output("--csv", ".csv", &arguments.csv, "write the report's figures to this file");
  command.add_output("--view", ".html", &arguments.view, "write a page that plays the run in any browser to this file");
  command.add("--digest", "HEX", &arguments.digest, "fail unless the trace digest is this one");
  command.add("--fault", "random|FAULT", &arguments.fault,
              "inject a fault: KIND@step,node[:channel], with a + for from there on, random, or random:KIND; drop, double, corrupt, "
              "truncate, swap, wrong-neighbour, late, stall");
  command.add("--judge", "", &arguments.judge,
              "have the judge of traces look at every message too; fail where bytes are not as predicted or a bound is beaten");
  command.add("--steps", "", &arguments.steps,
              "add a line a step: what it carried, its fullest channel, the nodes informed (of a reduction: complete), its phase");
  command.add("--json", "", &arguments.json, "print one JSON object");
  command.add("--offset", "STEPS", &arguments.offset, "of several collectives at once: this one begins so many steps later");
  return command;
}

Command run_command() {
  const auto arguments = std::make_shared<RunArguments>();
  Command command = describe_run(*arguments);
  command.parts = &arguments->parts;
  command.more_files = [arguments] { return files_of_parts(*arguments); };
  command.body = [arguments] { return run(*arguments); };
  return command;
}

}  // namespace torus::command
