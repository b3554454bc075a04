/// Runs several collectives at once on one machine, and says whether they slow each other down.
///
/// Each has an engine and a thread of its own; a global step ends when all have ended theirs. So each collective runs exactly as it does
/// alone: the same messages, steps and bytes, verified as ever. What they have in common is looked at once a global step, over the messages
/// of all: ports, channels, and the model time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <torus/run.hpp>

namespace torus {

/// One of several collectives that run at once.
struct ConcurrentCollective {
  const Algorithm* algorithm = nullptr;
  Request request = {};               ///< of each group, where there are groups
  std::optional<Groups> groups = {};  ///< of the machine; none: all nodes are one
  Step offset = 0;                    ///< it begins in this global step; at most max_offset
  std::optional<Plan> plan = {};      ///< none: what make_plan() makes
  detail::Watch* watch = nullptr;     ///< see RunOptions

  static constexpr Step max_offset = 1'000'000;
};

/// "2 allreduce": how texts name one of several collectives, which count from 1.
std::string name_of_concurrent(std::size_t index, Collective collective);

/// What one collective sends in a global step.
struct ConcurrentSends {
  std::span<const Message* const> messages;  ///< in no particular order; their steps are the collective's own
  const char* phase = nullptr;               ///< Node::phase(); none if no program named one
  bool runs = false;                         ///< it has begun and not ended: the step is one of its own
};

struct ConcurrentOptions {
  ExecutorKind executor = default_executor;
  unsigned threads = 0;           ///< workers of each collective; 0: the cores, shared out among them
  bool fewer_threads_do = false;  ///< as of RunOptions
  std::uint64_t seed = 1;         ///< of each
  Bytes memory_limit = 0;         ///< of all together; 0: 80 % of the memory that is available now
  bool verify = true;             ///< check every byte of each
  /// Called after each global step in which a collective took part, by one thread at a time. What each one sends, by collective.
  std::function<void(Step, std::span<const ConcurrentSends>)> on_step = {};
  const std::atomic<bool>* stop = nullptr;  ///< looked at after each global step: all end then
};

struct ConcurrentRun {
  struct Each {
    Run run;            ///< its own figures: those of a run alone. RunResult::interrupted: it was stopped, or never began
    double span_s = 0;  ///< model time of the global steps from its first to its last
  };
  std::vector<Each> each;  ///< by collective

  // All together. Reproducible, as the results of each are.
  std::uint64_t steps = 0;       ///< global steps, until the last collective had ended
  std::uint64_t busy_steps = 0;  ///< of them, with a message
  Bytes channel_bytes_sum = 0;   ///< sum over the steps of the most bytes on a channel
  double channel_time_s = 0;     ///< sum over the steps of the byte terms
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
    std::vector<Bytes> of_each;  ///< by collective
  };
  std::optional<Busiest> busiest;  ///< none: nothing was sent
  /// Of the first RunResult::max_step_records steps, without the figures of payload and phases.
  std::vector<StepRecord> step_records;

  /// Between collectives, in the first global step that has any: a channel, ports or a queue that none of them overloads by itself. The
  /// texts name the collectives.
  std::vector<Violation> violations;
  std::uint64_t violations_found = 0;
  bool interrupted = false;            ///< by ConcurrentOptions::stop
  std::optional<std::string> failure;  ///< one line; none: all are done, and nothing is wrong

  /// The sum of the model times alone: one collective after the other.
  double one_after_the_other_s() const noexcept;
  /// Every collective verified, and no violation between them.
  bool verified() const noexcept;
};

/// Runs all to the end. Where one breaks a rule or hangs, or two of them break one together, all end after that global step; `failure` says
/// it. Throws InputError, before any starts, if there are none, an algorithm does not apply, or all together need more than the memory
/// limit; what make_plan() and make_engine() throw; and, when all have ended, what programs throw, with the name of the collective.
ConcurrentRun run_concurrently(const Machine& machine, std::span<const ConcurrentCollective> collectives,
                               const ConcurrentOptions& options = {});

}  // namespace torus
