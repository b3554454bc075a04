#include "tools/torus/run/several.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <utility>

#include <torus/catalogue.hpp>
#include <torus/error.hpp>

#include "runtime/base/figures.hpp"
#include "runtime/base/output_file.hpp"
#include "tools/torus/cli/answer.hpp"
#include "tools/torus/cli/console.hpp"
#include "tools/torus/cli/job.hpp"
#include "tools/torus/cli/parser.hpp"
#include "tools/torus/cli/table.hpp"
#include "tools/torus/run/buffer_watcher.hpp"
#include "tools/torus/run/emulation.hpp"
#include "tools/torus/run/page_watcher.hpp"
#include "tools/torus/setting/notation.hpp"
#include "tools/torus/setting/options.hpp"
#include "tools/torus/setting/refusals.hpp"

namespace torus::command {
namespace {

/// The options of each collective; all others are of the machine, the host and the output, and stand before the first +.
bool is_of_each(const Option& option) {
  if (option.is_argument()) return true;
  const std::vector<std::string> names = option.names();
  const auto has = [&](std::string_view name) { return std::find(names.begin(), names.end(), name) != names.end(); };
  for (const std::string_view name : {"--algorithm", "--schedule", "--offset"}) {
    if (has(name)) return true;
  }
  for (const SettingOption& each : setting_options()) {
    if (each.spelled == option.spelled) return is_of_each_collective(each);
  }
  const std::vector<ParameterOption> parameters = parameter_options(catalogue());
  return std::any_of(parameters.begin(), parameters.end(), [&](const ParameterOption& p) { return has(fmt::format("--{}", p.name)); });
}

std::string typed(const Option& option, const std::string& value) {
  return option.names().front() + (value.empty() ? "" : fmt::format(" {}", value));
}

void refuse_what_is_of_one(const Command& command) {
  for (const char* name : {"--repeat", "--csv", "--steps", "--fault", "--digest"}) {
    const Option& option = *command.find(name);
    if (const auto value = value_of(option))
      throw InputError(
          fmt::format("{}: it is for a run of one collective, and a + makes it one of several; leave it out", typed(option, *value)));
  }
}

RunArguments parse_part(std::vector<std::string> words, std::size_t index) {
  RunArguments arguments;
  // What all subcommands take is read before, from the first part.
  std::optional<std::string> config, json_file;
  bool wide = false;
  Commands commands{{"torus", ""}, describe_run(arguments)};
  Command& run = commands.back();
  commands.front().add("--help", "", {}, "");
  commands.front().add("-V,--version", "", {}, "");
  run.add("--config", "FILE", &config, "");
  run.add_output("--json-file", ".json", &json_file, "");
  run.add("--wide", "", &wide, "");
  std::reverse(words.begin(), words.end());
  words.emplace_back("run");
  const Parsed parsed = parse(commands, std::move(words));
  const std::string which = fmt::format("collective {}", index + 1);
  if (parsed.mistake) throw InputError(fmt::format("{}: {}", which, *parsed.mistake));
  if (!parsed.surplus.empty()) throw InputError(fmt::format("{}: {}", which, surplus_text(run, parsed.surplus.front())));
  for (const Option& option : run.options) {
    const auto value = value_of(option);
    if (value && !is_of_each(option))
      throw InputError(fmt::format("{}: {}: it is for all collectives; write it before the first +", which, typed(option, *value)));
  }
  return arguments;
}

/// A later part on the machine of the first.
Setting setting_beside(const Setting& first, const TypedOptions& typed_first, RunArguments& part) {
  for (const SettingOption& option : setting_options()) {
    if (!is_of_each_collective(option)) part.setting[option.name] = typed_first[option.name];
  }
  part.setting["on"] = first.whole().topology.text();
  RunSpec spec = spec_of(part);
  spec.ports = first.whole().ports;
  spec.switching = first.whole().switching;
  spec.contention = first.whole().contention;
  Setting setting = make_setting(spec, part.algorithm, catalogue());
  if (setting.whole() != first.whole())
    throw InputError(
        fmt::format("it needs another machine than the first: {}, not {}", machine_text(setting.whole()), machine_text(first.whole())));
  return setting;
}

Step offset_of(const RunArguments& arguments) {
  return arguments.offset ? static_cast<Step>(parse_whole("--offset", *arguments.offset, 0, Member::max_offset)) : 0;
}

/// Each class of groups is a part of its own.
void add_classes(std::deque<PartOfRun>& parts, const RunArguments& arguments, const Setting& setting) {
  for (const Setting* each : setting.classes()) {
    parts.push_back({arguments, *each, offset_of(arguments)});
    parts.back().setting.others.clear();
  }
}

std::deque<PartOfRun> parts_of(const RunArguments& arguments) {
  std::deque<PartOfRun> parts;
  const RunSpec spec = spec_of(arguments);
  add_classes(parts, arguments, make_setting(spec, arguments.algorithm, catalogue()));
  for (std::size_t i = 0; i < arguments.parts.size(); ++i) {
    RunArguments part = parse_part(arguments.parts[i], i + 1);
    try {
      add_classes(parts, part, setting_beside(parts.front().setting, arguments.setting, part));
    } catch (const InputError& error) {
      throw InputError(fmt::format("collective {}: {}", i + 2, error.what()));
    }
  }
  for (std::size_t i = 0; arguments.trace && i < parts.size(); ++i) parts[i].trace = numbered(*arguments.trace, i + 1);
  return parts;
}

/// What looks at the messages of a part while it runs.
struct PartWatchers {
  PartWatchers(const PartOfRun& part, const RunArguments& arguments) {
    if (!part.trace.empty()) all.push_back(&trace.emplace(part.trace));
    if (arguments.judge) all.insert(all.end(), {&judge.emplace(), &buffers.emplace()});
    if (arguments.view) all.push_back(&page.emplace(part.offset));
  }

  std::optional<TraceWatcher> trace;
  std::optional<JudgeWatcher> judge;
  std::optional<BufferWatcher> buffers;
  std::optional<PageWatcher> page;
  std::vector<Watcher*> all;
};

void check_pages(const RunArguments& arguments, const std::deque<PartOfRun>& parts) {
  if (!arguments.view) return;
  if (parts.size() != 2)
    throw InputError(fmt::format("--view '{}': a page plays two collectives, and these are {}", *arguments.view, parts.size()));
}

/// When each step of all ends. None where there are more than records of them.
std::vector<double> ends_of_steps(const CostModel& cost, const SessionRun& run) {
  std::vector<double> ends;
  if (run.steps > run.step_records.size()) return ends;
  double now = 0;
  for (const StepRecord& step : run.step_records)
    ends.push_back(now += cost.timed_steps(1, step.channel_time_s, step.longest_route, static_cast<double>(step.most_combined)));
  return ends;
}

void write_page(OutputFile& file, const std::deque<PartOfRun>& parts, std::deque<PartWatchers>& watchers, const SessionRun& run) {
  const std::vector<double> ends = ends_of_steps(parts.front().setting.whole().cost, run);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    View& view = watchers[i].page->view();
    if (view.left_out()) throw InputError(fmt::format("--view: {}, and two collectives are played by their messages", *view.left_out()));
    const RunResult& alone = run.each[i].result;
    view.together({parts[i].offset, alone.steps, alone.model_time_s, run.each[i].span_s, ends});
  }
  file.write(watchers.front().page->view().page(&watchers.back().page->view()));
  file.commit();
}

}  // namespace

std::string numbered(const std::string& file, std::size_t number) {
  const std::size_t name = file.find_last_of('/') + 1;  // 0 where there is no folder
  const std::size_t packed = file.ends_with(".gz") ? file.size() - 3 : file.size();
  const std::size_t dot = file.substr(0, packed).find_last_of('.');
  const std::size_t at = dot == std::string::npos || dot <= name ? packed : dot;
  return fmt::format("{}.{}{}", file.substr(0, at), number, file.substr(at));
}

std::vector<NamedFile> files_of_parts(const RunArguments& arguments) {
  std::vector<NamedFile> files;
  for (std::size_t i = 0; i < arguments.parts.size(); ++i) {
    RunArguments part = parse_part(arguments.parts[i], i + 1);
    for (NamedFile& file : files_named_by(describe_run(part))) files.push_back(std::move(file));
  }
  const std::size_t traces = arguments.trace && !arguments.parts.empty() ? arguments.parts.size() + 1 : 0;
  for (std::size_t i = 1; i <= traces; ++i) files.push_back({"--trace", numbered(*arguments.trace, i), ".jsonl"});
  return files;
}

int run_several(const RunArguments& typed) {
  RunArguments arguments = typed;
  refuse_what_is_of_one(describe_run(arguments));
  const std::deque<PartOfRun> parts = parts_of(arguments);
  check_pages(arguments, parts);
  std::optional<OutputFile> page;
  if (arguments.view) page.emplace(*arguments.view);
  Progress progress;
  std::deque<PartWatchers> watchers;
  std::vector<Part> together;
  std::uint64_t likely_steps = 0;
  for (const PartOfRun& part : parts) {
    together.push_back({part.setting, watchers.emplace_back(part, arguments).all, part.offset});
    likely_steps = std::max(likely_steps, part.offset + part.setting.plan.likely_steps());
  }
  SessionOptions options;
  if (arguments.setting["memory"]) options.memory_limit = parts.front().setting.memory;
  options.stop = &interrupted();
  options.processes = processes();
  options.on_step = [&](Step step) {
    if (progress.due()) progress.show(fmt::format("step {} of {}", grouped(step), grouped(std::max<std::uint64_t>(likely_steps, step))));
  };
  const SessionRun run = emulate(together, options);
  progress.clear();
  if (!run.interrupted) {
    if (page) write_page(*page, parts, watchers, run);
    for (PartWatchers& each : watchers) {
      if (each.trace) each.trace->commit();
    }
  }
  answer(
      arguments.json, [&] { return several_json(parts, run); }, [&] { return several_table(parts, run); });
  if (run.failure) throw RunError(*run.failure);
  return 0;
}

}  // namespace torus::command
