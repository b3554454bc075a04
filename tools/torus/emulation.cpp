#include "tools/torus/emulation.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <string_view>

#include <torus/judge.hpp>
#include <torus/report.hpp>
#include <torus/run.hpp>
#include <torus/trace.hpp>

#include "tools/torus/interrupt.hpp"

namespace torus::command {
namespace {

std::optional<std::string> failure_in(const Check& check, const RunResult& result, const EmulationOptions& options) {
  if (check.failure) return check.failure;
  if (options.digest && result.trace_digest != *options.digest)
    return fmt::format("the trace digest is {}, wanted {}", digest_text(result.trace_digest), digest_text(*options.digest));
  return std::nullopt;
}

/// Follows every block of an aggregate-and-distribute broadcast through the phases in which it is in one place, and counts after each step
/// how many lie in each dilated subnetwork. Node (i, j) of the diagonals i = j (mod h) belongs to subnetwork i mod h.
class LoadObserver {
 public:
  LoadObserver(const Setting& setting, std::uint32_t h) : topology_{setting.machine.topology}, h_{h}, segments_{setting.plan.segments} {
    index_.assign(topology_.nodes(), 0);
    for (std::size_t i = 0; i < setting.request.sources.size(); ++i) {
      index_[setting.request.sources[i]] = static_cast<std::uint32_t>(i);
      for (std::uint32_t s = 0; s < segments_; ++s) at_.push_back(setting.request.sources[i]);
    }
  }

  /// The partition that the plan says it uses, where the balancing of it can be watched.
  static std::uint32_t partition_of(const Setting& setting) {
    const Topology& topology = setting.machine.topology;
    if (setting.request.collective != Collective::multinode_broadcast || topology.dimensions() != 2 || !topology.is_square_torus())
      return 0;
    for (const auto& [key, value] : setting.plan.notes) {
      std::uint32_t h = 0;
      if (key == "h" && std::from_chars(value.data(), value.data() + value.size(), h).ec == std::errc{}) return h;
    }
    return 0;
  }

  void step(std::span<const Message* const> messages) {
    if (messages.empty() || counts_.size() > most_steps) return;
    // A copy is made only by the phases after the balancing, in any order; of those nothing is asked.
    for (const Message* message : messages) {
      for (const BlockId id : message->blocks()) at_[index_[id / segments_] * segments_ + id % segments_] = message->destination();
    }
    counts_.resize(std::max<std::size_t>(counts_.size(), messages.front()->step() + 1));
    counts_.back() = count();
  }

  std::optional<NetworkLoads> loads(const RunResult& result) const {
    std::optional<std::size_t> aggregated, tuned;
    for (std::size_t step = 0; step < result.step_records.size(); ++step) {
      const char* const phase = result.step_records[step].phase;
      if (phase == nullptr) continue;
      if (phase == std::string_view("aggregate")) aggregated = step;
      if (phase == std::string_view("tune")) tuned = step;
    }
    if (!aggregated) return std::nullopt;
    return NetworkLoads{h_, after(*aggregated), after(tuned.value_or(*aggregated))};
  }

 private:
  static constexpr std::size_t most_steps = 4096;

  std::vector<std::uint64_t> count() const {
    std::vector<std::uint64_t> counts(h_);
    for (const NodeId node : at_) ++counts[static_cast<std::uint32_t>(topology_.coordinate(node, 0)) % h_];
    return counts;
  }
  /// The counts after a step: those of the last step up to it that had messages.
  std::vector<std::uint64_t> after(std::size_t step) const {
    for (std::size_t s = std::min(step + 1, counts_.size()); s-- > 0;) {
      if (!counts_[s].empty()) return counts_[s];
    }
    return std::vector<std::uint64_t>(h_);
  }

  const Topology& topology_;
  std::uint32_t h_;
  std::uint32_t segments_;
  std::vector<std::uint32_t> index_;                // by rank of the source
  std::vector<NodeId> at_;                          // by block
  std::vector<std::vector<std::uint64_t>> counts_;  // by step; empty for steps without messages
};

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
    if (!verdict.ok) return "the judge: " + verdict.violations.front();
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
  const Bounds bounds = lower_bounds(setting.machine, setting.request);
  std::optional<TraceWriter> trace;
  std::optional<LoadObserver> observer;
  if (const std::uint32_t h = LoadObserver::partition_of(setting); h > 0) observer.emplace(setting, h);
  std::optional<Witness> witness;
  if (options.judge) witness.emplace(header_of(setting));
  bool first = true;

  RunOptions run;
  run.executor = setting.executor;
  run.threads = setting.threads;
  run.seed = setting.seed;
  run.memory_limit = setting.memory;
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
  Engine engine = make_engine(setting.machine, setting.request, setting.plan, run);
  if (options.trace) trace.emplace(*options.trace, header_of(setting));

  Emulation emulation;
  for (unsigned repetition = 0; repetition < options.repeat && !emulation.failure; ++repetition) {
    RunResult result = engine.run(setting.plan.start);
    emulation.interrupted = result.interrupted;
    if (!result.interrupted) emulation.run_s.push_back(result.run_s);
    const Check check = torus::check(setting.machine, setting.request, setting.plan, bounds, result);
    emulation.failure = failure_in(check, result, options);
    if (result.interrupted && options.repeat > 1)
      emulation.failure = fmt::format("interrupted in repetition {} of {}", repetition + 1, options.repeat);
    if (!first && !emulation.failure && result.trace_digest != emulation.result.trace_digest) {
      emulation.failure = fmt::format("repetition {} had another trace digest than the first", repetition + 1);
    }
    if (first && witness && !emulation.failure) emulation.failure = witness->objection(result);
    if (first && witness && !emulation.failure) emulation.failure = check.surprise;
    if (first) emulation.result = std::move(result);
    first = false;
  }
  awaited.reset();
  if (trace && !emulation.interrupted) trace->commit();
  if (observer) emulation.loads = observer->loads(emulation.result);
  return emulation;
}

}  // namespace torus::command
