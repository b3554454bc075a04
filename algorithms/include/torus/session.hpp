/// Sessions: a collective, or several at once, run on one machine from the first step to the verdict, while watchers look on.
///
/// One runs on the calling thread. Several each have an engine and a thread of their own; a global step ends when all have ended theirs. So
/// each collective runs exactly as it does alone: the same messages, steps and bytes, verified as ever. What they have in common is looked
/// at once a global step, over the messages of all: ports, channels, and the model time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <torus/judge.hpp>
#include <torus/run.hpp>
#include <torus/trace.hpp>

namespace torus {

/// What a collective sends in a step.
struct StepSends {
  Step step = 0;                                  ///< the collective's own, from 0
  std::span<const Message* const> messages = {};  ///< in no particular order; empty: none
  const char* phase = nullptr;                    ///< Node::phase(); none if no program named one
  bool runs = false;                              ///< it has begun and not ended: the step is one of its own
};

/// Looks on while a collective runs. Of several runs of a session it sees the first, and of several processes it is called in process 0.
class Watcher {
 public:
  virtual ~Watcher() = default;
  /// Before the first step. Both stay until the session ends.
  virtual void begin(const TraceHeader& header, const Engine& engine) {
    static_cast<void>(header);
    static_cast<void>(engine);
  }
  /// After each step of the collective, on one thread at a time. What it throws ends the session.
  virtual void step(const StepSends& sends) { static_cast<void>(sends); }
  /// After the run: may complete the result, before anything is held against it.
  virtual void complete(RunResult& result) { static_cast<void>(result); }
  /// What speaks against a run with which nothing else is wrong; one line.
  virtual std::optional<std::string> objection(const Run& run) {
    static_cast<void>(run);
    return std::nullopt;
  }
};

/// Puts every message before the judge of traces, without a trace.
class JudgeWatcher : public Watcher {
 public:
  void begin(const TraceHeader& header, const Engine& engine) override;
  void step(const StepSends& sends) override;
  /// What the judge has against the run, or finds other than the engine; else the surprise of its check.
  std::optional<std::string> objection(const Run& run) override;
  /// After the run.
  const Verdict& verdict();

 private:
  std::optional<Judge> judge_;
  std::optional<Verdict> verdict_;
  TraceMessage line_;  // scratch
  bool going_ = true;
};

/// Writes the trace.
class TraceWatcher : public Watcher {
 public:
  /// The name of the file. It is created when the run begins.
  explicit TraceWatcher(std::string path) : path_{std::move(path)} {}
  void begin(const TraceHeader& header, const Engine& engine) override;
  void step(const StepSends& sends) override;
  /// The file is there, complete, from here on.
  void commit() { writer_->commit(); }

 private:
  std::string path_;
  std::optional<TraceWriter> writer_;
};

/// One of the collectives of a session.
struct Member {
  const Algorithm* algorithm = nullptr;
  Request request = {};                 ///< of each group, where there are groups
  std::optional<Groups> groups = {};    ///< of the machine; none: all nodes are one
  Step offset = 0;                      ///< it begins in this global step; at most max_offset
  std::optional<Plan> plan = {};        ///< none: what make_plan() makes
  std::optional<Bounds> bounds = {};    ///< of the request on the machine that the algorithm sees; none: lower_bounds()
  std::vector<Watcher*> watchers = {};  ///< they must outlive the session
  bool observe = false;                 ///< have the observer of the plan look on, where it has one and there are no groups
  detail::Watch* watch = nullptr;       ///< see RunOptions
  std::string name = {};                ///< for texts, of several; empty: name_of_member()

  static constexpr Step max_offset = 1'000'000;
};

/// "2 allreduce": how texts name one of several collectives, which count from 1.
std::string name_of_member(std::size_t index, Collective collective);

/// The header of a run's trace. groups: of the machine; null: none. Request and plan are then a group's.
TraceHeader header_of(const Machine& machine, const Groups* groups, const Request& request, const Plan& plan, std::string_view algorithm,
                      std::uint64_t seed);

/// RunOptions as of an engine, with two differences: `on_step` is called after each global step, when the watchers have seen it; and of
/// several collectives `threads` are the workers of each (0: the cores, shared out among them) and `memory_limit` is that of all together.
/// on_messages and on_phase are for a session of one. A fault strikes those whose groups its node is in, or who have none.
struct SessionOptions : RunOptions {
  unsigned repeat = 1;  ///< runs of a session of one, by one engine; they end with the first that fails or is interrupted
  /// Called after each of them; false: it was the last.
  std::function<bool(const RunResult&)> on_run = {};
};

/// Adds to `failure` what only a repetition may have: that it was interrupted, whatever else failed; or, where nothing else failed, that
/// its trace digest is not that of the first run. repetition: 1 .. of.
void note_repetition(std::optional<std::string>& failure, const RunResult& first, const RunResult& again, unsigned repetition, unsigned of);

struct SessionRun {
  std::vector<Run> each;  ///< by member; its own figures are those of a run alone

  // All together, of several; reproducible, as the results of each are. A session of one has the figures of its run alone.
  std::uint64_t steps = 0;          ///< global steps, until the last collective had ended
  std::uint64_t busy_steps = 0;     ///< of them, with a message
  std::uint64_t control_steps = 0;  ///< of them, with control messages alone
  Bytes channel_bytes_sum = 0;      ///< sum over the steps of the most bytes on a channel
  double channel_time_s = 0;        ///< sum over the steps of the byte terms
  std::uint64_t route_hops_sum = 0;
  Bytes node_combined_sum = 0;         ///< sum over the steps of the most bytes that a node combines; 0 where that takes no time
  double model_time_s = 0;             ///< of the global steps
  std::uint64_t max_channel_load = 0;  ///< max messages on a channel in a step
  std::uint64_t shared_crossings = 0;  ///< pairs of a channel and a step in which messages of several collectives cross it
  std::uint64_t shared_channels = 0;   ///< channels that several collectives use, be it in different steps
  /// The first of the channels with the most bytes over the whole run.
  struct Busiest {
    NodeId from = 0;
    Dimension dimension = 0;
    std::int32_t hop = 0;
    Bytes bytes = 0;
    std::vector<Bytes> of_each;  ///< by member
  };
  std::optional<Busiest> busiest;  ///< none: nothing was sent
  /// The first RunResult::max_step_records steps, without the figures of payload and phases.
  std::vector<StepRecord> step_records;

  /// Between collectives, in the first global step that has any: a channel, ports or a queue that none of them overloads by itself. The
  /// texts name the collectives.
  std::vector<Violation> violations;
  std::uint64_t violations_found = 0;
  bool interrupted = false;            ///< by RunOptions::stop
  std::optional<std::string> failure;  ///< one line; none: all are done, and nothing is wrong

  /// The sum of the model times alone: one collective after the other.
  double one_after_the_other_s() const noexcept;
  /// Every collective verified, and no violation between them.
  bool verified() const noexcept;
  /// The run as one, where its members are one collective that begins at once in classes of groups (Groups::classes()), which share no node
  /// and no channel. Plan and bounds are those of the member with the longest model time. Phases are left out, and what nodes combine
  /// beyond the steps of step_records counts as of the class that combines most.
  Run as_one() const;
};

/// Runs all to the end. Where one breaks a rule or hangs, or two of them break one together, all end after that global step; `failure` says
/// it. Throws InputError, before any starts, if there are none, an algorithm does not apply, or more memory is needed than the limit; what
/// make_plan(), make_engine() and Engine::run() throw, of several with the name of the collective; and what watchers throw.
SessionRun run_session(const Machine& machine, std::span<const Member> members, const SessionOptions& options = {});

}  // namespace torus
