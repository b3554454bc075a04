/// The books of a run: what each step carried, the totals, and what went wrong.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include <torus/executor.hpp>
#include <torus/result.hpp>

#include "runtime/engine/fabric.hpp"
#include "runtime/engine/rules/violations.hpp"

namespace torus::detail {

/// What was counted in a step: by this process, or by all.
struct StepCounts {
  StepRecord record;            ///< without its byte term and what was combined
  Bytes combined_bytes = 0;     ///< of the arrivals of the step before
  Bytes most_combined = 0;      ///< of them, max of a node
  std::uint64_t blocks = 0;     ///< delivered
  Bytes bytes_hops = 0;         ///< message bytes times hops
  std::uint64_t digest = 0;     ///< of the messages
  std::uint64_t in_flight = 0;  ///< nodes that run in the next step, and messages that go to other processes
  std::uint64_t ended = 0;      ///< programs, of the run

  /// Adds the counts of another process in the same step, without the phase.
  void add(const StepCounts& more) noexcept {
    record.messages += more.record.messages;
    record.control_messages += more.record.control_messages;
    record.hops += more.record.hops;
    record.bytes += more.record.bytes;
    record.payload_bytes += more.record.payload_bytes;
    record.most_bytes = std::max(record.most_bytes, more.record.most_bytes);
    record.longest_route = std::max(record.longest_route, more.record.longest_route);
    combined_bytes += more.combined_bytes;
    most_combined = std::max(most_combined, more.most_combined);
    blocks += more.blocks;
    bytes_hops += more.bytes_hops;
    digest += more.digest;
    in_flight += more.in_flight;
    ended += more.ended;
  }
};

/// What one channel carried at most in a step, in messages and bytes, and the byte term.
struct ChannelLoad {
  std::uint64_t messages = 1;
  Bytes bytes = 0;
  double time_s = 0;
};

/// Gathers at the barrier what the workers counted during a step, and adds it to the result. One thread, between two steps.
class Ledger {
 public:
  /// All must outlive this.
  Ledger(const Machine& machine, const Members& members, Fabric& fabric) : machine_{machine}, members_{members}, fabric_{fabric} {}

  /// Forgets the last run.
  void begin_run() noexcept { phase_ = ended_ = 0; }

  /// True if a node received more messages of the last step than it has ports, which is noticed only when it runs. The violations are then
  /// in the result. To be called before throw_failure(), since what programs throw in this step comes later.
  bool gather_receives(RunResult& result) const;
  /// The lowest such node; the number of nodes if there is none.
  NodeId overloaded_receiver() const noexcept;
  /// The violations among the messages that arrived in this step.
  Violations audit_receives() const;
  /// Rethrows what the program of the lowest node threw in this step; RunError if a send found no memory. The text begins with step and
  /// node. std::nullopt: the programs are being made.
  void throw_failure(std::optional<Step> step) const;
  /// The lowest node whose program threw; the number of nodes if none did.
  std::uint64_t failed_node() const noexcept;
  /// True if a message of this step breaks a rule. The violations are then in the result.
  bool gather_violations(RunResult& result) const;
  /// What this process counted in the step. Once a step.
  StepCounts count();
  /// Adds what is counted even for the final step: combined bytes, deliveries, the digest.
  void book(StepCounts& counts, RunResult& result) {
    if (counts.combined_bytes > 0) charge_combining(counts, result);
    result.blocks_delivered += counts.blocks;
    result.bytes_hops += counts.bytes_hops;
    result.trace_digest += counts.digest;
    if (counts.record.messages > 0) counts.record.longest_route = std::max(counts.record.longest_route, 1U);
  }
  /// Whether the load of the channels must be measured from the messages of a step.
  bool measures_channels() const noexcept { return fabric_.shares_channels() || !machine_.cost.one_speed(); }
  /// The load of this process's channels in this step, by the messages that it has.
  ChannelLoad measure(const std::vector<const Message*>& messages) const;
  /// Adds the load of the machine's channels. load: of all processes, where it was measured.
  void note_channels(const ChannelLoad& load, StepRecord& record, RunResult& result) const;
  /// Adds a step that ended at a barrier.
  void add(const StepRecord& record, RunResult& result);
  /// What is counted once a run, by this process.
  struct Totals {
    std::uint64_t duplicates = 0;
    ChannelUse use;
  };
  Totals totals(Executor& executor) const;
  /// Adds what all processes have counted.
  void close(const Totals& totals, RunResult& result) const;
  /// All violations of a step at this process's nodes and channels: those that the messages show, and blocks sent without being held.
  Violations audit_step(std::span<const Message* const> messages) const;
  /// overloaded: the node that received too many messages; none if a sent message broke a rule. Throws RunError if there are no violations.
  void report_violations(std::vector<Violation> first, std::uint64_t found, std::optional<NodeId> overloaded, RunResult& result) const;

 private:
  PhaseTotals& totals_of(const char* phase, RunResult& result);
  void charge_combining(const StepCounts& counts, RunResult& result);

  const Machine& machine_;
  const Members& members_;
  Fabric& fabric_;
  std::size_t phase_ = 0;    // of the last step, in RunResult::phases
  std::uint64_t ended_ = 0;  // programs, of the run
};

}  // namespace torus::detail
