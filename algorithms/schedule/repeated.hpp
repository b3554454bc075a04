/// A schedule that begins anew every few steps, each time for the next blocks: a pipeline of many segments in the table of one.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <torus/schedule.hpp>

namespace torus {

/// Round i, from 0 on, sends in step s + i * period what `first` sends in step s, with i * stride added to the ids of the blocks. No two
/// sends by one channel may be a whole number of periods apart, unless there is one round alone. All sends are single hops.
class RepeatedSchedule {
 public:
  RepeatedSchedule(const Topology& topology, Schedule first, Step period, BlockId stride);

  const Schedule& first() const noexcept { return first_; }
  Step period() const noexcept { return period_; }
  Step steps(std::uint32_t rounds) const noexcept { return first_.steps() + period_ * (rounds - 1); }

  /// Sums over the steps, in blocks: of the most on a channel, and of the most that reach a node to be combined. Steps with messages.
  struct Loads {
    std::uint64_t channel = 0, combined = 0, busy = 0;
  };
  Loads loads(std::uint32_t rounds) const;

  /// What a node sends in a step.
  void send_due(Node& self, Step step, std::uint32_t rounds) const;
  /// After the last step in which a node sends; 0 if it never does.
  Step end_of(NodeId node, std::uint32_t rounds) const noexcept;
  Bytes table_bytes() const noexcept;

 private:
  /// Blocks by period since the start, of one channel or one node, in the steps of one remainder modulo the period.
  using Row = std::vector<std::uint32_t>;
  std::uint64_t most(const std::vector<std::vector<Row>>& rows, std::uint32_t rounds) const;
  std::size_t index(NodeId node, Step step) const noexcept { return std::size_t{node} * period_ + step % period_; }

  Schedule first_;
  Step period_;
  BlockId stride_;
  std::size_t frames_;                             // periods that a round takes
  std::vector<std::size_t> start_;                 // by node and remainder
  std::vector<std::uint32_t> sends_;               // of first_, by node and remainder
  std::vector<std::vector<Row>> channels_, work_;  // by remainder
};

/// The program of a node, which ends after its last send. The schedule must outlive the run.
Program follow(Node& self, const RepeatedSchedule& schedule, std::uint32_t rounds);

}  // namespace torus
