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

#include "runtime/engine/barrier.hpp"
#include "runtime/engine/fabric.hpp"
#include "runtime/engine/ledger.hpp"
#include "runtime/engine/processes/border.hpp"
#include "runtime/engine/processes/together.hpp"

namespace torus::detail {

/// Throws InputError, in all processes, unless machine, placement and the options that the result depends on are equal in all. It names the
/// first difference. Collective.
void check_same(Processes& processes, const Machine& machine, const Members& members, const RunOptions& options);

/// The barrier of several processes, of which each has a slab. All of them see the same summaries and take the same decisions from them, in
/// the order in which one process alone would. All calls are collective; what is thrown is thrown in all processes.
///
///     1 summaries   everyone to everyone: sums, flags, the number of bytes that follow
///     2 boxes       messages over the border; then unpacked
///     3 verdict     only where another process may refuse a message or channels are measured: everyone to everyone
///
/// Where a rule is broken the processes exchange the messages of the step and audit it together.
class Accord final : public Barrier {
 public:
  /// All must outlive this. Makes the border of the fabric.
  Accord(Processes& processes, Fabric& fabric, Ledger& ledger);

  /// Throws InputError if the programs are not of one type; what they captured is not compared.
  void begin_run(bool observed, const std::function<Program(Node&)>& program) override;
  void throw_failure(std::optional<Step> step) override;
  bool end_step(StepCounts& counts, LocalCounts& local, bool stop, RunResult& result) override;
  bool stopped(bool) const noexcept override { return stopped_; }
  ChannelLoad load() override { return load_; }
  std::span<const Message* const> all_messages() override;
  void gather(Hang& hang, std::size_t most) override;
  void gather(Ledger::Totals& totals) override;
  void gather(std::optional<WrongDelivery>& wrong, bool reduces) override;
  void gather(double& largest) override;
  void gather(std::vector<std::uint64_t>& sums) override;

 private:
  /// What a process sends to another at the end of a step.
  struct Summary {
    StepCounts counts;        // without the name of the phase, which is an address
    std::uint64_t phase = 0;  // the hash of its text; of the first process that has one
    // True if it is for any process.
    bool failed = false, suspect = false, suspect_receives = false, copied = false, bundled = false, far = false, stop = false;
    /// Bytes that follow for the receiving process.
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
  void report(const Violations& found, std::optional<NodeId> overloaded, RunResult& result);
  void audit_together(RunResult& result);

  Processes& processes_;
  Fabric& fabric_;
  Ledger& ledger_;
  Border border_;
  bool stopped_ = false;
  ChannelLoad load_;
  std::vector<std::vector<std::byte>> received_;  // by process, the boxes of a step
  std::vector<Summary> rows_, others_;            // those sent and received in a step
  std::vector<std::uint64_t> incoming_;
  std::vector<const Message*> observed_messages_;
  std::shared_ptr<std::deque<std::pair<std::uint64_t, std::string>>> phases_;  // by the hash of their text
};

}  // namespace torus::detail
