#include "tools/torus/run/emulation.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <utility>

#include <torus/catalogue.hpp>
#include <torus/error.hpp>
#include <torus/judge.hpp>
#include <torus/report.hpp>
#include <torus/run.hpp>

#include "algorithms/barrier_witness.hpp"
#include "runtime/base/figures.hpp"
#include "runtime/engine/processes/together.hpp"
#include "tools/torus/cli/console.hpp"
#include "tools/torus/cli/job.hpp"
#include "tools/torus/cli/parser.hpp"
#include "tools/torus/run/live_judge.hpp"
#include "tools/torus/run/watchdog.hpp"
#include "tools/torus/setting/options.hpp"
#include "tools/torus/setting/schedule_file.hpp"

namespace torus::command {
namespace {

std::optional<std::string> failure_in(const Check& check, const RunResult& result, const EmulationOptions& options) {
  if (check.failure) return check.failure;
  if (options.digest && result.trace_digest != *options.digest)
    return fmt::format("the trace digest is {}, wanted {}", digest_text(result.trace_digest), digest_text(*options.digest));
  return std::nullopt;
}

/// Passes a request to stop on to the engine, on the first of several processes, which alone looks at messages and gets interrupts. What
/// it throws while it looks would leave the others waiting, so that it is kept until all have ended their run.
class StopRelay {
 public:
  explicit StopRelay(const std::atomic<bool>* requested) noexcept : requested_{requested} {}

  std::atomic<bool> stop = false;  ///< for the engine

  void look() noexcept {
    if (requested_ != nullptr && requested_->load(std::memory_order_relaxed)) stop = true;
  }
  template <class F>
  void keep(bool several, F&& f) {
    if (!several) return f();
    try {
      if (!kept_) f();
    } catch (...) {
      kept_ = std::current_exception();
      stop = true;
    }
  }
  bool failed() const noexcept { return kept_ != nullptr; }
  void rethrow() const {
    if (kept_) std::rethrow_exception(kept_);
  }

 private:
  const std::atomic<bool>* requested_;
  std::exception_ptr kept_;
};

std::vector<std::vector<NodeId>> lists_of(const std::optional<Groups>& groups) {
  std::vector<std::vector<NodeId>> lists;
  for (NodeId group = 0; groups && group < groups->count(); ++group)
    lists.emplace_back(groups->members(group).begin(), groups->members(group).end());
  return lists;
}

}  // namespace

void note_threads(const Setting& setting, unsigned started) {
  static bool noted = false;
  const unsigned cores = workers_of(setting.executor, 0);
  if (setting.threads > 0 || started >= cores || processes() != nullptr || std::exchange(noted, true)) return;
  std::fprintf(stderr, "torus: note: the system starts no more than %s for this process, which has %s\n",
               counted(started, "thread").c_str(), counted(cores, "core").c_str());
}

TraceHeader header_of(const Setting& setting) {
  const Request& request = setting.request;
  const bool combines = facts_of(request.collective).combines;
  const bool cut = combines || facts_of(request.collective).replicates();
  const Bytes element = unit_of(request.collective, request.reduction);
  std::vector<Bytes> sizes = sizes_of_blocks(setting.machine, request, setting.plan);
  const Bytes least = sizes.empty() ? 0 : *std::min_element(sizes.begin(), sizes.end());
  return {.machine = setting.whole(),
          .collective = std::string(name(request.collective)),
          .sources = request.sources,
          .segments = setting.plan.segments,
          .block_bytes = !sizes.empty() ? least
                         : cut          ? request.bytes / element / setting.plan.segments * element
                                        : request.bytes,
          .algorithm = std::string(setting.algorithm->name),
          .seed = setting.seed,
          .reduction = combines ? std::optional(request.reduction) : std::nullopt,
          .registers = setting.plan.registers,
          .sizes = std::move(sizes),
          .groups = lists_of(setting.groups)};
}

Emulation emulate(const Setting& setting, const EmulationOptions& options) {
  const Bounds bounds = lower_bounds(setting.machine, setting.request);
  Processes* const all = options.processes;
  const bool looks = all == nullptr || all->self() == 0;
  if (all != nullptr && all == processes() && looks) lead(*all, setting, options);
  std::optional<TraceWriter> trace;
  const Groups* const groups = setting.groups_or_null();
  const bool observes = looks && setting.plan.observe && groups == nullptr;  // an observer knows the nodes of one group
  const std::unique_ptr<RunObserver> observer = observes ? setting.plan.observe() : nullptr;
  std::optional<LiveJudge> judge;
  if (looks && options.judge) judge.emplace(header_of(setting));
  std::optional<BarrierWitness> barrier;
  if (looks && setting.request.collective == Collective::barrier) barrier.emplace(setting.whole().topology, groups);
  bool first = true;

  RunOptions run;
  run.executor = setting.executor;
  run.threads = setting.threads;
  run.fewer_threads_do = setting.threads == 0 || options.fewer_threads_do;
  if (all != nullptr && run.threads == 0) run.threads = std::max(1U, workers_of(setting.executor, 0) / all->on_these_cores());
  run.seed = setting.seed;
  run.memory_limit = setting.memory;
  Watchdog watchdog(setting);
  run.watch = &watchdog.watch();
  StopRelay relay(options.stop);
  run.stop = all == nullptr ? options.stop : &relay.stop;
  run.fault = options.fault;
  run.on_fault = options.on_fault;
  run.processes = all;
  run.keep_memory = options.keep_memory;
  run.programs = fmt::format("algorithm {}\n", setting.algorithm->name);
  std::optional<InterruptsAwaited> awaited;  // from the first step on: `stop` is not read before
  run.on_step = [&](Step step) {
    if (options.stop != nullptr && !awaited) awaited.emplace();
    if (options.on_step) options.on_step(step);
    relay.look();
  };
  if (looks && (options.trace || observer || judge || barrier || options.on_messages)) {
    run.on_messages = [&](std::span<const Message* const> messages) {
      if (!first) return;
      relay.keep(all != nullptr, [&] {
        if (trace) trace->write_step(messages);
        if (observer) observer->step(messages);
        if (judge) judge->step(messages);
        if (barrier) barrier->step(messages);
        if (options.on_messages) options.on_messages(messages);
      });
    };
  }
  if (looks && options.trace) {
    run.on_phase = [&](const char* phase) {
      if (first) trace->name_phase(phase);
    };
  }
  Engine engine = make_engine(setting.whole(), setting.request, setting.plan, run, groups);
  detail::run_on_all(all, [&] {
    if (looks && options.trace) trace.emplace(*options.trace, header_of(setting));
  });

  const std::function<Program(Node&)> start = [&setting](Node& self) {
    keep_stack_for_handler();  // which thread this is, the engine alone knows
    return setting.plan.start(self);
  };
  Emulation emulation;
  for (unsigned repetition = 0; repetition < options.repeat && !emulation.failure; ++repetition) {
    RunResult result = engine.run(start);
    // What holds of the first run holds of all: they must have its trace digest.
    const auto unsure = barrier && first ? barrier->judge(result) : std::nullopt;
    note_threads(setting, result.threads);
    if (first && options.on_engine) options.on_engine(engine);
    emulation.interrupted = result.interrupted;
    if (!result.interrupted) emulation.run_s.push_back(result.run_s);
    const Check check = torus::check(setting.whole(), setting.request, setting.plan, bounds, result, groups);
    emulation.failure = unsure ? unsure : failure_in(check, result, options);
    if (result.interrupted && options.repeat > 1)
      emulation.failure = fmt::format("interrupted in repetition {} of {}", repetition + 1, options.repeat);
    if (!first && !emulation.failure && result.trace_digest != emulation.result.trace_digest) {
      emulation.failure = fmt::format("repetition {} had another trace digest than the first", repetition + 1);
    }
    if (first && judge && !emulation.failure) emulation.failure = judge->objection(result);
    if (first && judge && !emulation.failure) emulation.failure = check.surprise;
    bool last = options.on_run && !options.on_run(result);
    if (all != nullptr) last = detail::exchange_each(*all, last || emulation.failure.has_value() || relay.failed()).front();
    relay.rethrow();
    if (first) emulation.result = std::move(result);
    first = false;
    if (last) break;
  }
  awaited.reset();
  if (trace && !emulation.interrupted) trace->commit();
  if (observer) emulation.observations = observer->finish();
  return emulation;
}

Lead lead_of(const Setting& setting, const EmulationOptions& options) {
  std::string line = command_line(setting);
  line.erase(0, line.find(" run ") + 1);
  const Bytes memory = setting.memory > 0 ? setting.memory : memory_of_a_process();
  return {fmt::format("{} --memory {} --plan-time 1000000 --step-time {}", line, memory, step_limit_of(setting)),
          {options.repeat, setting.request.expected_sources, options.fault}};
}

Setting led_by(const Lead& lead) {
  Command command{"torus", ""};
  std::string run, collective, algorithm;
  TypedOptions typed;
  command.add("run", "", &run, "");
  add_collective(command, collective);
  command.add("--algorithm", "", &algorithm, "");
  std::optional<std::string> schedule, map;
  command.add("--schedule", "", &schedule, "");
  command.add("--map", "", &map, "");
  add_setting_options(command, typed);
  parse_line(command, lead.line);
  RunSpec spec = parse_spec(parse_collective(collective, typed), typed);
  spec.schedule = schedule;
  spec.map = map;
  const Algorithm& named =
      spec.schedule ? algorithm_of_file(spec) : named_algorithm("--algorithm", spec.collective, algorithm, catalogue());
  Setting setting = open_setting(make_machine(spec, named.native), make_fitting_request(spec), spec);
  // The line says how many sources there are, not for how many the first process has planned: parameters are chosen by that.
  setting.request.expected_sources = lead.beside.expected_sources;
  if (const auto why_not = plan_with(setting, named)) throw InputError(*why_not);
  return setting;
}

void lead(Processes& processes, const Setting& setting, const EmulationOptions& options) {
  const Lead lead = lead_of(setting, options);
  detail::gather_bytes(processes, detail::bytes_of(lead.line));
  detail::exchange_each(processes, lead.beside);
  detail::run_on_all(&processes, [] {});
}

int follow() {
  Processes& all = *processes();
  while (true) {
    Lead lead;
    lead.line = detail::text_of(detail::gather_bytes(all, {}).front());
    if (lead.line.empty()) return 0;
    lead.beside = detail::exchange_each(all, lead.beside).front();
    EmulationOptions options;
    options.processes = &all;
    options.repeat = lead.beside.repeat;
    options.fault = lead.beside.fault;
    try {
      std::optional<Setting> setting;
      detail::run_on_all(&all, [&] { setting = led_by(lead); });
      emulate(*setting, options);
    } catch (const std::exception&) {
      // All have thrown it, and the first one says it.
    }
  }
}

}  // namespace torus::command
