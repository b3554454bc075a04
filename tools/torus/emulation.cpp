#include "tools/torus/emulation.hpp"

#include <fmt/format.h>
#include <memory>

#include <torus/bounds.hpp>
#include <torus/judge.hpp>
#include <torus/report.hpp>
#include <torus/trace.hpp>

#include "tools/torus/interrupt.hpp"

namespace torus::command {
namespace {

std::optional<std::string> failure_of(const Setting& setting, const RunResult& result, const EmulationOptions& options) {
  if (auto failure = torus::failure_of(setting.machine, result)) return failure;
  const Plan& plan = setting.plan;
  // A limit that rests on an expected number of sources binds nobody who has more.
  const bool assumed = !plan.steps_exact && setting.request.expected_sources;
  if (!assumed && !plan.agrees(result.steps, plan.steps)) {
    return fmt::format("{} steps, where the formula {} says {}{}", result.steps, plan.formula, plan.steps_exact ? "" : "at most ",
                       plan.steps);
  }
  if (options.digest && result.trace_digest != *options.digest) {
    return fmt::format("the trace digest is {}, wanted {}", digest_text(result.trace_digest), digest_text(*options.digest));
  }
  return std::nullopt;
}

/// What a run that did all it should have did better than it can, or otherwise than predicted.
std::optional<std::string> surprise_of(const Setting& setting, const RunResult& result) {
  const Plan& plan = setting.plan;
  const auto bytes = static_cast<double>(result.channel_bytes_sum);
  std::uint64_t hops = 0;
  for (const StepRecord& record : result.step_records) hops += record.longest_route;
  // The prediction of a multi-node broadcast is for a number of sources that is assumed: its programs do not know them.
  const bool predicted = setting.request.collective != Collective::multinode_broadcast;
  if (predicted && !plan.agrees(bytes, plan.channel_bytes)) {
    return fmt::format("{} bytes on the fullest channels, summed over the steps, where {}{} were predicted", result.channel_bytes_sum,
                       plan.steps_exact ? "" : "at most ", plan.channel_bytes);
  }
  if (setting.machine.cost.hop_s > 0 && plan.route_hops && plan.steps_exact &&
      (predicted ? hops != plan.route_hops : hops > plan.route_hops)) {
    return fmt::format("{} hops of the longest routes, summed over the steps, where {}{} were predicted", hops, predicted ? "" : "at most ",
                       *plan.route_hops);
  }
  const Bounds bounds = lower_bounds(setting.machine, setting.request);
  if (result.steps < bounds.steps)
    return fmt::format("{} steps, fewer than the lower bound {}: {}", result.steps, bounds.steps, bounds.steps_reason);
  if (bytes < bounds.channel_bytes) {
    return fmt::format("{} bytes on the fullest channels, summed over the steps, fewer than the lower bound {}: {}",
                       result.channel_bytes_sum, bounds.channel_bytes, bounds.bytes_reason);
  }
  return std::nullopt;
}

/// Puts the messages of a run before the judge of traces, as a trace would.
class Witness {
 public:
  explicit Witness(const TraceHeader& header) : judge_{header} {}

  void step(std::span<const Message* const> messages) {
    for (const Message* m : messages) {
      line_.step = m->step();
      line_.source = m->source();
      line_.destination = m->destination();
      line_.path.assign(m->route().begin(), m->route().end());
      line_.bytes = m->bytes();
      line_.blocks.assign(m->blocks().begin(), m->blocks().end());
      going_ = going_ && judge_.message(line_);
    }
  }

  /// What the judge has against the run; none if it finds what the engine found.
  std::optional<std::string> objection(const RunResult& result) {
    const Verdict verdict = judge_.finish();
    if (!verdict.ok) return "the judge: " + verdict.offences.front();
    const bool same = verdict.digest == result.trace_digest && verdict.messages == result.messages && verdict.hops == result.hops &&
                      verdict.busy_steps == result.busy_steps && verdict.channel_bytes == result.channel_bytes_sum &&
                      verdict.max_channel_load == result.max_channel_load;
    if (same) return std::nullopt;
    return fmt::format(
        "the judge counts {} messages, {} hops, {} busy steps, {} bytes on the fullest channels, load {}, digest {}; the engine {}, "
        "{}, {}, {}, {}, {}",
        verdict.messages, verdict.hops, verdict.busy_steps, verdict.channel_bytes, verdict.max_channel_load, digest_text(verdict.digest),
        result.messages, result.hops, result.busy_steps, result.channel_bytes_sum, result.max_channel_load,
        digest_text(result.trace_digest));
  }

 private:
  Judge judge_;
  TraceMessage line_;
  bool going_ = true;
};

TraceHeader header_of(const Setting& setting) {
  const bool cut = setting.request.collective != Collective::total_exchange;
  return {setting.machine,
          std::string(name(setting.request.collective)),
          setting.request.sources,
          setting.plan.segments,
          cut ? setting.request.bytes / setting.plan.segments : setting.request.bytes,
          std::string(setting.algorithm->name),
          setting.seed};
}

}  // namespace

Emulation emulate(const Setting& setting, const EmulationOptions& options) {
  const Placement placement = placement_of(setting.machine, setting.request, setting.plan);
  std::optional<TraceWriter> trace;
  const std::unique_ptr<RunObserver> observer = setting.plan.observe ? setting.plan.observe() : nullptr;
  std::optional<Witness> witness;
  if (options.judge) witness.emplace(header_of(setting));
  bool first = true;

  RunOptions run;
  run.executor = setting.executor;
  run.threads = setting.threads;
  run.seed = setting.seed;
  run.memory_limit = setting.memory;
  run.program_bytes = setting.plan.program_bytes(setting.machine.topology.nodes());
  run.stop = options.stop;
  std::optional<InterruptsAwaited> awaited;  // from the first step on: nobody looks at `stop` before
  run.on_step = [&](Step step) {
    if (options.stop != nullptr && !awaited) awaited.emplace();
    if (options.on_step) options.on_step(step);
  };
  if (options.trace || observer || witness) {
    run.on_messages = [&](std::span<const Message* const> messages) {
      if (!first) return;
      if (trace) trace->write_step(messages);
      if (observer) observer->step(messages);
      if (witness) witness->step(messages);
    };
  }
  Engine engine(setting.machine, placement, run);
  if (options.trace) trace.emplace(*options.trace, header_of(setting));

  Emulation emulation;
  for (unsigned repetition = 0; repetition < options.repeat && !emulation.failure; ++repetition) {
    RunResult result = engine.run(setting.plan.start);
    emulation.interrupted = result.interrupted;
    if (!result.interrupted) emulation.run_s.push_back(result.run_s);
    emulation.failure = failure_of(setting, result, options);
    if (result.interrupted && options.repeat > 1)
      emulation.failure = fmt::format("interrupted in repetition {} of {}", repetition + 1, options.repeat);
    if (!first && !emulation.failure && result.trace_digest != emulation.result.trace_digest) {
      emulation.failure = fmt::format("repetition {} had another trace digest than the first", repetition + 1);
    }
    if (first && witness && !emulation.failure) emulation.failure = witness->objection(result);
    if (first && witness && !emulation.failure) emulation.failure = surprise_of(setting, result);
    if (first) emulation.result = std::move(result);
    first = false;
  }
  awaited.reset();
  if (trace && !emulation.interrupted) trace->commit();
  if (observer) emulation.observations = observer->finish();
  return emulation;
}

}  // namespace torus::command
