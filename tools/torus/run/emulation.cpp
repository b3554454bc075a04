#include "tools/torus/run/emulation.hpp"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <exception>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include <torus/catalogue.hpp>
#include <torus/error.hpp>

#include "runtime/base/figures.hpp"
#include "runtime/engine/processes/together.hpp"
#include "tools/torus/cli/answer.hpp"
#include "tools/torus/cli/console.hpp"
#include "tools/torus/cli/job.hpp"
#include "tools/torus/cli/parser.hpp"
#include "tools/torus/run/watchdog.hpp"
#include "tools/torus/setting/options.hpp"
#include "tools/torus/setting/schedule_file.hpp"

namespace torus::command {
namespace {

/// The workers of a run. Where nobody typed them, each of several processes has its share of the cores.
unsigned threads_of(const Setting& setting, const Processes* processes) {
  if (processes == nullptr || setting.threads > 0) return setting.threads;
  return std::max(1U, workers_of(setting.executor, 0) / processes->on_these_cores());
}

}  // namespace

void note_threads(const Setting& setting, unsigned started) {
  static bool noted = false;
  const unsigned cores = workers_of(setting.executor, 0);
  if (setting.threads > 0 || started >= cores || processes() != nullptr || std::exchange(noted, true)) return;
  std::fprintf(stderr, "torus: note: the system starts no more than %s for this process, which has %s\n",
               counted(started, "thread").c_str(), counted(cores, "core").c_str());
}

Member member_of(const Setting& setting) {
  return {
      .algorithm = setting.algorithm, .request = setting.request, .groups = setting.groups, .plan = setting.plan, .bounds = setting.bounds};
}

SessionOptions options_of(const Setting& setting, SessionOptions options) {
  options.executor = setting.executor;
  options.threads = setting.threads;
  options.seed = setting.seed;
  options.memory_limit = setting.memory;
  return options;
}

TraceHeader header_of(const Setting& setting) {
  return torus::header_of(setting.whole(), setting.groups_or_null(), setting.request, setting.plan, setting.algorithm->name, setting.seed);
}

SessionRun emulate(std::span<const Part> parts, const SessionOptions& asked) {
  const Setting& first = parts.front().setting;
  const bool several = parts.size() > 1;
  Processes* const all = asked.processes;
  if (all != nullptr && all == processes() && all->self() == 0) lead(*all, parts, asked);
  SessionOptions options = options_of(first, asked);
  if (!several) options.threads = threads_of(first, all);
  options.fewer_threads_do = first.threads == 0 || asked.fewer_threads_do;
  if (several) options.memory_limit = asked.memory_limit;
  if (several && all != nullptr && options.memory_limit == 0) options.memory_limit = memory_of_a_process();
  std::optional<InterruptsAwaited> awaited;  // from the first step on: `stop` is not read before
  options.on_step = [&](Step step) {
    if (asked.stop != nullptr && !awaited) awaited.emplace();
    if (asked.on_step) asked.on_step(step);
  };
  std::deque<Watchdog> watchdogs;
  std::vector<Member> members;
  for (const Part& part : parts) {
    const Setting& setting = part.setting;
    Member& member = members.emplace_back(member_of(setting));
    member.plan->start = [&start = setting.plan.start](Node& self) {
      keep_stack_for_handler();  // which thread this is, the engine alone knows
      return start(self);
    };
    member.offset = part.offset;
    member.name = part.name;
    member.watchers = part.watchers;
    member.observe = !several;
    member.watch = &watchdogs.emplace_back(setting, several ? typed_line() : "").watch();
  }
  SessionRun run = run_session(first.whole(), members, options);
  if (!several) note_threads(first, run.each.front().result.threads);
  return run;
}

namespace {

/// Whether a run is as good as the first one. Adds its wall time to that one, and what is wrong.
bool add_repetition(Run& first, const Run& again, unsigned repetition, unsigned of) {
  first.run_s.insert(first.run_s.end(), again.run_s.begin(), again.run_s.end());
  first.interrupted = again.interrupted;
  first.check = again.check;
  note_repetition(first.check.failure, first.result, again.result, repetition, of);
  return !first.check.failure;
}

}  // namespace

Run emulate(const Setting& setting, const SessionOptions& options, std::vector<std::vector<Watcher*>> watchers) {
  const std::vector<const Setting*> classes = setting.classes();
  watchers.resize(classes.size());
  std::vector<Part> parts;
  for (std::size_t i = 0; i < classes.size(); ++i) parts.push_back({*classes[i], std::move(watchers[i])});
  if (parts.size() == 1) return std::move(emulate(parts, options).each.front());
  for (Part& part : parts) part.name = class_text(*part.setting.groups);
  SessionOptions once = options;
  once.repeat = 1;
  once.on_run = {};
  once.keep_memory = {};
  once.memory_limit = setting.memory;
  std::optional<Run> first;
  for (unsigned repetition = 1; repetition <= options.repeat; ++repetition) {
    Run run = emulate(parts, once).as_one();
    const bool more = !options.on_run || options.on_run(run.result);
    for (Part& part : parts) part.watchers.clear();
    if (!first)
      first = std::move(run);
    else if (!add_repetition(*first, run, repetition, options.repeat))
      break;
    if (!more || first->check.failure || first->interrupted) break;
  }
  return *std::move(first);
}

Lead lead_of(const Part& part, const SessionOptions& options, bool more) {
  Setting setting = part.setting;
  setting.others.clear();  // which are parts of their own
  std::string line = command_line(setting);
  line.erase(0, line.find(" run ") + 1);
  const Bytes memory = setting.memory > 0 ? setting.memory : memory_of_a_process();
  return {fmt::format("{} --memory {} --plan-time 1000000 --step-time {}", line, memory, step_limit_of(setting)),
          {options.repeat, setting.request.expected_sources, options.fault, part.offset, setting.groups ? setting.groups->number_of(0) : 0,
           more}};
}

Setting led_by(const Lead& lead) {
  Command command{"torus", ""};
  std::string run, collective, algorithm;
  TypedOptions typed;
  command.add("run", "", &run, "");
  add_collective(command, collective);
  command.add("--algorithm", "", &algorithm, "");
  std::optional<std::string> schedule;
  command.add("--schedule", "", &schedule, "");
  add_setting_options(command, typed);
  parse_line(command, lead.line);
  RunSpec spec = parse_spec(parse_collective(collective, typed), typed);
  play(spec, schedule);
  if (spec.groups) {
    const auto is_led = [&](const Groups& groups) { return groups.number_of(0) == lead.beside.first_group; };
    const auto other = std::find_if(spec.other_classes.begin(), spec.other_classes.end(), is_led);
    spec = spec_of_class(spec, other == spec.other_classes.end() ? *spec.groups : *other);
  }
  const Algorithm& named =
      spec.schedule ? algorithm_of_file(spec) : named_algorithm("--algorithm", spec.collective, algorithm, catalogue());
  Setting setting = open_setting(make_machine(spec, named.native), make_fitting_request(spec), spec);
  // The line says how many sources there are, not for how many the first process has planned: parameters are chosen by that.
  setting.request.expected_sources = lead.beside.expected_sources;
  if (const auto why_not = plan_with(setting, named)) throw InputError(*why_not);
  return setting;
}

void lead(Processes& processes, std::span<const Part> parts, const SessionOptions& options) {
  for (const Part& part : parts) {
    const Lead lead = lead_of(part, options, &part != &parts.back());
    detail::gather_bytes(processes, detail::bytes_of(lead.line));
    detail::exchange_each(processes, lead.beside);
  }
  detail::run_on_all(&processes, [] {});
}

int follow() {
  Processes& all = *processes();
  while (true) {
    std::vector<Lead> leads;
    do {
      Lead& lead = leads.emplace_back();
      lead.line = detail::text_of(detail::gather_bytes(all, {}).front());
      if (lead.line.empty()) return 0;
      lead.beside = detail::exchange_each(all, lead.beside).front();
    } while (leads.back().beside.more);
    SessionOptions options;
    options.processes = &all;
    options.repeat = leads.front().beside.repeat;
    options.fault = leads.front().beside.fault;
    try {
      std::deque<Setting> settings;
      std::vector<Part> parts;
      detail::run_on_all(&all, [&] {
        for (const Lead& lead : leads) parts.push_back({settings.emplace_back(led_by(lead)), {}, lead.beside.offset});
      });
      options.memory_limit = settings.front().memory;
      emulate(parts, options);
    } catch (const std::exception&) {
      // All have thrown it, and the first one says it.
    }
  }
}

}  // namespace torus::command
