#include "tools/torus/run/several.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <utility>

#include <torus/catalogue.hpp>
#include <torus/error.hpp>
#include <torus/trace.hpp>

#include "runtime/base/figures.hpp"
#include "runtime/base/output_file.hpp"
#include "tools/torus/cli/answer.hpp"
#include "tools/torus/cli/console.hpp"
#include "tools/torus/cli/job.hpp"
#include "tools/torus/cli/parser.hpp"
#include "tools/torus/cli/table.hpp"
#include "tools/torus/run/emulation.hpp"
#include "tools/torus/run/live_judge.hpp"
#include "tools/torus/run/watchdog.hpp"
#include "tools/torus/setting/notation.hpp"
#include "tools/torus/setting/options.hpp"
#include "tools/torus/setting/refusals.hpp"
#include "tools/torus/view/playback.hpp"

namespace torus::command {
namespace {

/// The options of each collective; all others are of the machine, the host and the output, and stand before the first +.
bool is_of_each(const Option& option) {
  if (option.is_argument()) return true;
  const std::vector<std::string> names = option.names();
  const auto has = [&](std::string_view name) { return std::find(names.begin(), names.end(), name) != names.end(); };
  for (const std::string_view name : {"--algorithm", "--schedule", "--map", "--offset"}) {
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
  if (processes() != nullptr) throw InputError("several collectives at once run in one process: start torus without mpirun");
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
  return arguments.offset ? static_cast<Step>(parse_whole("--offset", *arguments.offset, 0, ConcurrentCollective::max_offset)) : 0;
}

/// "t.2.jsonl" of "t.jsonl", "t.2.jsonl.gz" of "t.jsonl.gz".
std::string numbered(const std::string& file, std::size_t number) {
  const std::size_t name = file.find_last_of('/') + 1;  // 0 where there is no folder
  const std::size_t packed = file.ends_with(".gz") ? file.size() - 3 : file.size();
  const std::size_t dot = file.substr(0, packed).find_last_of('.');
  const std::size_t at = dot == std::string::npos || dot <= name ? packed : dot;
  return fmt::format("{}.{}{}", file.substr(0, at), number, file.substr(at));
}

std::deque<PartOfRun> parts_of(const RunArguments& arguments) {
  std::deque<PartOfRun> parts;
  const RunSpec spec = spec_of(arguments);
  parts.push_back({arguments, make_setting(spec, arguments.algorithm, catalogue()), offset_of(arguments)});
  for (std::size_t i = 0; i < arguments.parts.size(); ++i) {
    RunArguments part = parse_part(arguments.parts[i], i + 1);
    try {
      Setting setting = setting_beside(parts.front().setting, arguments.setting, part);
      const Step offset = offset_of(part);
      parts.push_back({std::move(part), std::move(setting), offset});
    } catch (const InputError& error) {
      throw InputError(fmt::format("collective {}: {}", i + 2, error.what()));
    }
  }
  for (std::size_t i = 0; arguments.trace && i < parts.size(); ++i) parts[i].trace = numbered(*arguments.trace, i + 1);
  return parts;
}

/// All that looks at the messages while they run.
class Watchers {
 public:
  Watchers(const std::deque<PartOfRun>& parts, const RunArguments& arguments) {
    for (const PartOfRun& part : parts) {
      const TraceHeader header = header_of(part.setting);
      if (!part.trace.empty()) traces_.emplace_back(part.trace, header);
      if (arguments.judge) judges_.emplace_back(header);
      if (arguments.view) views_.emplace_back(header);
      offsets_.push_back(part.offset);
    }
    if (arguments.view) page_.emplace(*arguments.view);
  }

  void step(std::span<const ConcurrentSends> sends) {
    for (std::size_t i = 0; i < sends.size(); ++i) {
      const auto& [messages, phase, runs] = sends[i];
      if (messages.empty()) continue;
      if (!traces_.empty()) {
        if (phase != nullptr) traces_[i].name_phase(phase);
        traces_[i].write_step(messages);
      }
      if (!judges_.empty()) judges_[i].step(messages);
      if (!views_.empty()) play(i, messages, phase);
    }
  }

  /// What the judge has against a part that went well.
  std::optional<std::string> objection(std::size_t i, const Run& run) {
    if (judges_.empty() || run.check.failure) return std::nullopt;
    const auto objection = judges_[i].objection(run.result);
    return objection ? objection : run.check.surprise;
  }

  /// The files are there when all have been written.
  void commit() {
    if (page_) {
      for (const View& view : views_) {
        if (view.left_out())
          throw InputError(fmt::format("--view: {}, and two collectives are played by their messages", *view.left_out()));
      }
      page_->write(views_.front().page(&views_.back()));
      page_->commit();
    }
    for (TraceWriter& trace : traces_) trace.commit();
  }

 private:
  /// On the common clock.
  void play(std::size_t i, std::span<const Message* const> messages, const char* phase) {
    ordered_.assign(messages.begin(), messages.end());
    std::sort(ordered_.begin(), ordered_.end(), trace_order);
    for (const Message* m : ordered_) {
      line_.assign(*m);
      line_.step += offsets_[i];
      line_.phase = phase != nullptr ? phase : "";
      views_[i].message(line_);
    }
  }

  std::vector<TraceWriter> traces_;
  std::deque<LiveJudge> judges_;
  std::deque<View> views_;
  std::optional<OutputFile> page_;
  std::vector<Step> offsets_;
  std::vector<const Message*> ordered_;  // scratch
  TraceMessage line_;                    // scratch
};

void check_pages(const RunArguments& arguments, const std::deque<PartOfRun>& parts) {
  if (!arguments.view) return;
  for (const PartOfRun& part : parts) refuse_groups(part.arguments.setting["groups"], "--view");
  if (parts.size() != 2)
    throw InputError(fmt::format("--view '{}': a page plays two collectives, and these are {}", *arguments.view, parts.size()));
}

}  // namespace

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
  Watchers watchers(parts, arguments);
  Progress progress;

  std::deque<Watchdog> watchdogs;
  std::vector<ConcurrentCollective> collectives;
  std::uint64_t likely_steps = 0;
  for (const PartOfRun& part : parts) {
    const Setting& setting = part.setting;
    watchdogs.emplace_back(setting, typed_line());
    Plan plan = setting.plan;
    plan.start = [&start = setting.plan.start](Node& self) {
      keep_stack_for_handler();  // which thread this is, the engine alone knows
      return start(self);
    };
    collectives.push_back({setting.algorithm, setting.request, setting.groups, part.offset, std::move(plan), &watchdogs.back().watch()});
    likely_steps = std::max(likely_steps, part.offset + setting.plan.likely_steps());
  }
  const Setting& first = parts.front().setting;
  ConcurrentOptions options;
  options.executor = first.executor;
  options.threads = first.threads;
  options.seed = first.seed;
  if (arguments.setting["memory"]) options.memory_limit = first.memory;
  options.stop = &interrupted();
  std::optional<InterruptsAwaited> awaited;  // from the first step on: `stop` is not read before
  options.on_step = [&](Step step, std::span<const ConcurrentSends> sends) {
    if (!awaited) awaited.emplace();
    watchers.step(sends);
    if (progress.due()) progress.show(fmt::format("step {} of {}", grouped(step), grouped(std::max<std::uint64_t>(likely_steps, step))));
  };
  ConcurrentRun run = run_concurrently(first.whole(), collectives, options);
  awaited.reset();
  watchdogs.clear();
  progress.clear();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Check& check = run.each[i].run.check;
    if (const auto objection = watchers.objection(i, run.each[i].run)) {
      check.failure = objection;
      if (!run.failure) run.failure = fmt::format("{}: {}", name_of_concurrent(i, parts[i].setting.request.collective), *objection);
    }
  }
  if (!run.interrupted) watchers.commit();
  answer(
      arguments.json, [&] { return several_json(parts, run); }, [&] { return several_table(parts, run); });
  if (run.failure) throw RunError(*run.failure);
  return 0;
}

}  // namespace torus::command
