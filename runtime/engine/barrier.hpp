/// The barrier at the end of a step: what decides whether the run goes on, and what it counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <torus/engine.hpp>
#include <torus/result.hpp>

#include "runtime/engine/fabric.hpp"
#include "runtime/engine/ledger.hpp"

namespace torus::detail {

/// Ends the steps of a run. LocalBarrier does it for one process, Accord together with others. One thread, between two steps: a step costs
/// a few virtual calls, a message none.
class Barrier {
 public:
  /// What this process contributes to the next step, also where StepCounts are those of all processes.
  struct LocalCounts {
    std::uint64_t active = 0;  ///< nodes that run in its next step
    Bytes payload = 0;         ///< that it sent
  };

  Barrier() = default;
  Barrier(const Barrier&) = delete;
  Barrier& operator=(const Barrier&) = delete;
  virtual ~Barrier() = default;

  /// Forgets the last run. observed: whether this process looks at messages.
  virtual void begin_run(bool observed, const std::function<Program(Node&)>& program) = 0;
  /// Throws what a program threw in a step, or before the first: the lowest node's.
  virtual void throw_failure(std::optional<Step> step) = 0;
  /// After a step. In: the counts of this process. Out: those of the machine, and `local`. stop: whether this process has been asked to
  /// stop. True if a rule is broken: the violations are then in the result. Throws what a program threw; see Ledger.
  virtual bool end_step(StepCounts& counts, LocalCounts& local, bool stop, RunResult& result) = 0;
  /// Whether the run ends after the step that end_step() has ended. stop: whether this process has been asked to stop by now.
  virtual bool stopped(bool stop) const noexcept = 0;
  /// The load of the machine's channels in that step, where it must be measured; see Ledger::measures_channels().
  virtual ChannelLoad load() = 0;
  /// Whether process 0 looks at messages.
  bool observed() const noexcept { return observed_; }
  /// The messages of that step, on process 0; others get none. Only where they are observed. Valid until the next call.
  virtual std::span<const Message* const> all_messages() = 0;

  // From the values of this process to those of all.

  /// most: how many nodes are named.
  virtual void gather(Hang& hang, std::size_t most) = 0;
  virtual void gather(Ledger::Totals& totals) = 0;
  /// reduces: whether blocks are partials.
  virtual void gather(std::optional<WrongDelivery>& wrong, bool reduces) = 0;
  /// The largest one.
  virtual void gather(double& largest) = 0;
  /// Sums, number by number.
  virtual void gather(std::vector<std::uint64_t>& sums) = 0;

 protected:
  bool observed_ = false;
};

/// The barrier of a run on one process.
class LocalBarrier final : public Barrier {
 public:
  /// Both must outlive this.
  LocalBarrier(Fabric& fabric, Ledger& ledger) noexcept : fabric_{fabric}, ledger_{ledger} {}

  void begin_run(bool observed, const std::function<Program(Node&)>&) override { observed_ = observed; }
  void throw_failure(std::optional<Step> step) override { ledger_.throw_failure(step); }
  bool end_step(StepCounts& counts, LocalCounts& local, bool, RunResult& result) override {
    if (ledger_.gather_receives(result)) return true;
    ledger_.throw_failure(fabric_.now());
    local = {counts.in_flight, counts.record.payload_bytes};
    return ledger_.gather_violations(result);
  }
  bool stopped(bool stop) const noexcept override { return stop; }
  ChannelLoad load() override { return ledger_.measures_channels() ? ledger_.measure(fabric_.messages_of(fabric_.now())) : ChannelLoad{}; }
  std::span<const Message* const> all_messages() override { return messages_ = fabric_.messages_of(fabric_.now()); }
  void gather(Hang&, std::size_t) override {}
  void gather(Ledger::Totals&) override {}
  void gather(std::optional<WrongDelivery>&, bool) override {}
  void gather(double&) override {}
  void gather(std::vector<std::uint64_t>&) override {}

 private:
  Fabric& fabric_;
  Ledger& ledger_;
  std::vector<const Message*> messages_;  // that are observed
};

}  // namespace torus::detail
