/// What the processes of a run agree on at its barriers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <torus/engine.hpp>
#include <torus/processes.hpp>
#include <torus/result.hpp>

#include "runtime/engine/border.hpp"
#include "runtime/engine/fabric.hpp"
#include "runtime/engine/ledger.hpp"
#include "runtime/engine/together.hpp"

namespace torus::detail {

/// Throws InputError, in all processes, unless all are about to run the same: everything of machine and placement, and the options that the
/// result depends on. It names the first difference.
void check_same(Processes& processes, const Machine& machine, const Placement& placement, const RunOptions& options);

/// Ends a step together with the other processes. All of them see the same summaries and take the same decisions from them, in the order in
/// which one process alone would.
///
///     1 summaries   everyone to everyone: sums, flags, "so many bytes follow for you"
///     2 boxes       messages over the border; then unpacked
///     3 verdict     only where another process may refuse a message or channels are measured: everyone to everyone
///
/// Where a rule is broken the processes show each other the messages of the step and audit it together.
class Accord {
 public:
  /// All must outlive this.
  Accord(Processes& processes, Fabric& fabric, Ledger& ledger);

  /// Forgets the last run. observed: whether process 0 looks at messages. Together. Throws InputError, in all processes, if the programs
  /// are not of one type; what they captured is not compared.
  void begin_run(bool observed, const std::function<Program(Node&)>& program);

  /// What all counted; `here` stays this process's: nodes that run in its next step, and payload that it sent.
  struct Here {
    std::uint64_t active = 0;
    Bytes payload = 0;
  };
  /// After a step. stop: this process has been told to stop. True if a rule is broken: the violations are then in the result. Throws what a
  /// program threw, in all processes; see Ledger.
  bool end_step(StepCounts& counts, Here& here, bool stop, RunResult& result);
  /// Of the step that end_step() has ended: whether a process has been told to stop, and the load of the machine's channels.
  bool stopped() const noexcept { return stopped_; }
  const ChannelLoad& load() const noexcept { return load_; }

  /// The messages that all nodes have sent in this step, on process 0; others get none. Where process 0 observes. Valid until the next
  /// call.
  bool observed() const noexcept { return observed_; }
  std::span<const Message* const> all_messages();

  /// Throws, in all processes, what a program threw in a step, or before the first: the lowest node's.
  void throw_failure(std::optional<Step> step);

  // All of these: from each process's own to that of all.

  void gather(Hang& hang, std::size_t most);
  void gather(Ledger::Totals& totals);
  /// reduces: whether blocks are partials.
  void gather(std::optional<WrongDelivery>& wrong, bool reduces);

 private:
  /// What one process tells another of a step.
  struct Summary {
    StepCounts counts;        // but for the name of the phase, which is an address
    std::uint64_t phase = 0;  // the hash of its text; of the first process that has one
    // Of any.
    bool failed = false, suspect = false, suspect_receives = false, copied = false, bundled = false, far = false, stop = false;
    /// Bytes that follow for the process that is told.
    std::uint64_t follows = 0;

    void add(const Summary& more) noexcept {
      counts.add(more.counts);
      if (phase == 0) phase = more.phase;
      failed |= more.failed;
      suspect |= more.suspect;
      suspect_receives |= more.suspect_receives;
      copied |= more.copied;
      bundled |= more.bundled;
      far |= more.far;
      stop |= more.stop;
    }
  };

  struct Verdict {
    bool suspect;
    std::uint64_t messages;
    Bytes bytes;
    double time_s;
  };

  void exchange_boxes(std::span<Box> boxes, std::span<const std::uint64_t> incoming);
  void exchange_sized(std::span<Box> boxes);
  /// The name of the phase of a step in which a process has named one.
  const char* phase_of(std::uint64_t hash, const char* mine);
  std::vector<const Message*> own_messages() const;
  void add_received(std::vector<const Message*>& messages) const;
  void give_verdict(bool& suspect);
  void report(const Violations& found, std::optional<NodeId> misled, RunResult& result);
  void audit_together(RunResult& result);

  Processes& processes_;
  Fabric& fabric_;
  Ledger& ledger_;
  bool observed_ = false;
  bool stopped_ = false;
  ChannelLoad load_;
  std::vector<std::vector<std::byte>> received_;  // by process, the boxes of a step
  std::vector<Summary> rows_, others_;            // those sent and received in a step
  std::vector<std::uint64_t> incoming_;
  std::vector<const Message*> observed_messages_;
  std::shared_ptr<std::deque<std::pair<std::uint64_t, std::string>>> phases_;  // by the hash of their text
};

}  // namespace torus::detail
