/// A schedule that begins anew every few steps, each time for the next blocks: a pipeline of many segments in the table of one.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <torus/schedule.hpp>

namespace torus {

/// Round i, from 0 on, sends in step s + i * period what `first` sends in step s, with i * stride added to the ids of the blocks. All sends
/// are single hops. Those of several rounds by one channel in one step go together; they must be of the same manner. Blocks of one register
/// have ids from a multiple of `apart` on, which is `stride` if it is not given.
class RepeatedSchedule {
 public:
  RepeatedSchedule(const Machine& machine, Schedule first, Step period, BlockId stride, BlockId apart = 0);

  const Schedule& first() const noexcept { return first_; }
  Step period() const noexcept { return period_; }
  Step steps(std::uint32_t rounds) const noexcept { return first_.steps() == 0 ? 0 : first_.steps() + period_ * (rounds - 1); }

  /// Sums over the steps, in blocks: of the most on a channel, and of the most that reach a node to be combined. Steps with messages. Sum
  /// of the byte terms for each byte of a block.
  struct Loads {
    std::uint64_t channel = 0, combined = 0, busy = 0;
    double channel_byte_s = 0;
  };
  Loads loads(std::uint32_t rounds) const;

  /// What a node sends in a step.
  void send_due(Node& self, Step step, std::uint32_t rounds) const;
  /// After the last step in which a node sends; 0 if it never does.
  Step end_of(NodeId node, std::uint32_t rounds) const noexcept;
  Bytes table_bytes() const noexcept;

 private:
  /// One channel or one node, in the steps of one remainder modulo the period: periods since the start, ascending, and blocks in each.
  using BlocksByPeriod = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  /// Sums over the steps of the most in a row, and of the most times the weight of the row.
  struct Most {
    std::uint64_t blocks = 0;
    double weighted = 0;
  };
  Most most(const std::vector<std::vector<BlocksByPeriod>>& rows, const std::vector<std::vector<double>>* weights,
            std::uint32_t rounds) const;
  template <class F>
  void each_due(NodeId node, Step step, std::uint32_t rounds, F&& f) const;
  void send_together(Node& self, Step step, std::uint32_t rounds) const;
  std::size_t index(NodeId node, Step step) const noexcept { return std::size_t{node} * period_ + step % period_; }

  Schedule first_;
  Step period_;
  BlockId stride_;
  std::size_t frames_;                                        // periods that a round takes
  std::vector<std::size_t> start_;                            // by node and remainder
  std::vector<std::uint32_t> sends_;                          // of first_, by node and remainder
  std::vector<std::vector<BlocksByPeriod>> channels_, work_;  // by remainder
  std::vector<std::vector<double>> byte_s_;                   // T_c of the channels, where they differ in speed
  bool together_ = false;                                     // whether a channel sends several times in the steps of a remainder
};

/// The program of a node, which ends after its last send. The schedule must outlive the run.
Program follow(Node& self, const RepeatedSchedule& schedule, std::uint32_t rounds);

}  // namespace torus
