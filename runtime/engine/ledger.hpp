/// The books of a run: what each step carried, the totals, and what went wrong.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <torus/executor.hpp>
#include <torus/result.hpp>

#include "runtime/engine/fabric.hpp"
#include "runtime/engine/violations.hpp"

namespace torus::detail {

/// Gathers at the barrier what the workers counted during a step, and adds it to the result. One thread, between two steps.
class Ledger {
 public:
  /// All must outlive this.
  Ledger(const Machine& machine, const Placement& placement, Fabric& fabric) : machine_{machine}, placement_{placement}, fabric_{fabric} {}

  /// Forgets the last run.
  void begin_run() noexcept { phase_ = 0; }

  /// True if a node received more messages of the last step than it has ports, which shows only when it runs. The violations are then in
  /// the result. To be asked before throw_failure(): what programs throw in this step comes later.
  bool gather_receives(RunResult& result) const;
  /// Rethrows what a program threw in this step, of the lowest node, see rethrow_naming(); RunError if a send found no memory. No step: the
  /// programs are being made.
  void throw_failure(std::optional<Step> step) const;
  /// True if a message of this step breaks a rule. The violations are then in the result.
  bool gather_violations(RunResult& result) const;
  /// What this step carried. Adds to the result what counts also if no barrier follows: deliveries and the digest.
  StepRecord gather_record(RunResult& result);
  /// Whether note_channels() needs the messages of a step.
  bool wants_messages() const noexcept { return fabric_.shares_channels() || !machine_.cost.one_speed(); }
  /// Notes the max load of a channel in this step, its byte term, and what shared channels carried.
  void note_channels(const std::vector<const Message*>& messages, StepRecord& record, RunResult& result);
  /// Adds a step that ended at a barrier.
  void add(const StepRecord& record, RunResult& result);
  /// Adds what is counted once a run: duplicates, and what the channels carried.
  void close(Executor& executor, RunResult& result) const;

 private:
  PhaseTotals& totals_of(const char* phase, RunResult& result);
  void charge_combining(RunResult& result);
  void report_violations(const Violations& found, RunResult& result) const;

  const Machine& machine_;
  const Placement& placement_;
  Fabric& fabric_;
  std::size_t phase_ = 0;  // of the last step, in RunResult::phases
};

}  // namespace torus::detail
