#include "tools/torus/emulation.hpp"

#include <algorithm>
#include <exception>
#include <fmt/format.h>
#include <memory>

#include <torus/judge.hpp>
#include <torus/report.hpp>
#include <torus/run.hpp>

#include "algorithms/barrier_witness.hpp"
#include "runtime/engine/together.hpp"
#include "tools/torus/follow.hpp"
#include "tools/torus/interrupt.hpp"
#include "tools/torus/job.hpp"

namespace torus::command {
namespace {

std::optional<std::string> failure_in(const Check& check, const RunResult& result, const EmulationOptions& options) {
  if (check.failure) return check.failure;
  if (options.digest && result.trace_digest != *options.digest)
    return fmt::format("the trace digest is {}, wanted {}", digest_text(result.trace_digest), digest_text(*options.digest));
  return std::nullopt;
}

/// Of several processes the first alone looks at messages, and hears of interrupts. What it throws there would leave the others waiting: it
/// is kept until all have ended their run.
class Watch {
 public:
  explicit Watch(const std::atomic<bool>* told) noexcept : told_{told} {}

  std::atomic<bool> stop = false;  ///< for the engine

  void look() noexcept {
    if (told_ != nullptr && told_->load(std::memory_order_relaxed)) stop = true;
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
  const std::atomic<bool>* told_;
  std::exception_ptr kept_;
};

/// Puts the messages of a run before the judge of traces, as a trace would.
class Witness {
 public:
  explicit Witness(const TraceHeader& header) : judge_{header} {}

  void step(std::span<const Message* const> messages) {
    for (const Message* m : messages) {
      line_.assign(*m);
      going_ = going_ && judge_.message(line_);
    }
  }

  /// What the judge has against the run; none if it finds what the engine found.
  std::optional<std::string> objection(const RunResult& result) {
    const Verdict verdict = judge_.finish();
    if (!verdict.ok) return "the judge: " + verdict.violations.front();
    const bool same = verdict.digest == result.trace_digest && verdict.messages == result.messages && verdict.hops == result.hops &&
                      verdict.busy_steps == result.busy_steps && verdict.channel_bytes == result.channel_bytes_sum &&
                      verdict.max_channel_load == result.max_channel_load;
    if (same && verdict.channel_time_s == result.channel_time_s) return std::nullopt;
    if (same) {
      return fmt::format("the judge finds a byte term of {} s, the engine {} s: the bytes on each channel times its T_c",
                         verdict.channel_time_s, result.channel_time_s);
    }
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

}  // namespace

TraceHeader header_of(const Setting& setting) {
  const Request& request = setting.request;
  const bool combines = reduces(request.collective);
  const bool cut = combines || request.collective == Collective::broadcast || request.collective == Collective::multinode_broadcast;
  const Bytes element = combines ? size_of(request.reduction.type) : 1;
  return {.machine = setting.machine,
          .collective = std::string(name(request.collective)),
          .sources = request.sources,
          .segments = setting.plan.segments,
          .block_bytes = cut ? request.bytes / element / setting.plan.segments * element : request.bytes,
          .algorithm = std::string(setting.algorithm->name),
          .seed = setting.seed,
          .reduction = combines ? std::optional(request.reduction) : std::nullopt,
          .registers = setting.plan.registers};
}

Emulation emulate(const Setting& setting, const EmulationOptions& options) {
  const Bounds bounds = lower_bounds(setting.machine, setting.request);
  Processes* const all = options.processes;
  const bool looks = all == nullptr || all->self() == 0;
  if (all != nullptr && all == processes() && looks) lead(*all, setting, options);
  std::optional<TraceWriter> trace;
  const std::unique_ptr<RunObserver> observer = looks && setting.plan.observe ? setting.plan.observe() : nullptr;
  std::optional<Witness> witness;
  if (looks && options.judge) witness.emplace(header_of(setting));
  std::optional<BarrierWitness> barrier;
  if (looks && setting.request.collective == Collective::barrier) barrier.emplace(setting.machine.topology);
  bool first = true;

  RunOptions run;
  run.executor = setting.executor;
  run.threads = setting.threads;
  if (all != nullptr && run.threads == 0) run.threads = std::max(1U, workers_of(setting.executor, 0) / all->on_these_cores());
  run.seed = setting.seed;
  run.memory_limit = setting.memory;
  Watch watch(options.stop);
  run.stop = all == nullptr ? options.stop : &watch.stop;
  run.fault = options.fault;
  run.on_fault = options.on_fault;
  run.processes = all;
  run.programs = fmt::format("algorithm {}\n", setting.algorithm->name);
  std::optional<InterruptsAwaited> awaited;  // from the first step on: `stop` is not read before
  run.on_step = [&](Step step) {
    if (options.stop != nullptr && !awaited) awaited.emplace();
    if (options.on_step) options.on_step(step);
    watch.look();
  };
  if (looks && (options.trace || observer || witness || barrier || options.on_messages)) {
    run.on_messages = [&](std::span<const Message* const> messages) {
      if (!first) return;
      watch.keep(all != nullptr, [&] {
        if (trace) trace->write_step(messages);
        if (observer) observer->step(messages);
        if (witness) witness->step(messages);
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
  Engine engine = make_engine(setting.machine, setting.request, setting.plan, run);
  detail::together(all, [&] {
    if (looks && options.trace) trace.emplace(*options.trace, header_of(setting));
  });

  Emulation emulation;
  for (unsigned repetition = 0; repetition < options.repeat && !emulation.failure; ++repetition) {
    RunResult result = engine.run(setting.plan.start);
    // What holds of the first run holds of all: they must have its trace digest.
    const auto unsure = barrier && first ? barrier->judge(result) : std::nullopt;
    if (first && options.on_engine) options.on_engine(engine);
    emulation.interrupted = result.interrupted;
    if (!result.interrupted) emulation.run_s.push_back(result.run_s);
    const Check check = torus::check(setting.machine, setting.request, setting.plan, bounds, result);
    emulation.failure = unsure ? unsure : failure_in(check, result, options);
    if (result.interrupted && options.repeat > 1)
      emulation.failure = fmt::format("interrupted in repetition {} of {}", repetition + 1, options.repeat);
    if (!first && !emulation.failure && result.trace_digest != emulation.result.trace_digest) {
      emulation.failure = fmt::format("repetition {} had another trace digest than the first", repetition + 1);
    }
    if (first && witness && !emulation.failure) emulation.failure = witness->objection(result);
    if (first && witness && !emulation.failure) emulation.failure = check.surprise;
    bool last = options.on_run && !options.on_run(result);
    if (all != nullptr) last = detail::exchange_each(*all, last || emulation.failure.has_value() || watch.failed()).front();
    watch.rethrow();
    if (first) emulation.result = std::move(result);
    first = false;
    if (last) break;
  }
  awaited.reset();
  if (trace && !emulation.interrupted) trace->commit();
  if (observer) emulation.observations = observer->finish();
  return emulation;
}

}  // namespace torus::command
