/// Broadcast by dimension-ordered worms on a square torus. Stage i covers the line of supernodes number i by the splitting rule: each
/// holder's segment is cut in 2k+1 parts, one of them told by each port (rows of tracks.hpp). The holders of a supernode then lie in a
/// shifted copy of the subgroup that the next stage starts from; an alignment step takes them to its place, and those that it moves retire:
/// they keep the message, but are silent until they are told again.
/// Machine  wormhole, dimension-ordered in the machine's routing order, all ports, no channel shared, torus n x .. x n.
/// Memory   O(1) a node.
/// Steps    k T + (k-1), T = ceil(log_{2k+1} n), with the alignment steps of n = 2 and 3, which nobody needs; at most 2(k-1) above
///          ceil(log_{2k+1} N).
///          Trimmed: rows that need no alignment alone, where that costs no step: k T + [ceil(log_3 n) > T] + (k-2) [ceil(log_5 n) > T].
/// Header   the source's rank and the length of the child's segment; the stage follows from the step.
/// Source   Wang & Tseng, sections 3 and 4; the trimmed form is ours.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::broadcast {

extern const Algorithm wang_tseng;
extern const Algorithm wang_tseng_trimmed;

/// When which stage is: known to every node from the machine and the step alone.
class WangTsengSchedule {
 public:
  WangTsengSchedule(std::int32_t dimensions, std::int32_t extent, bool trimmed);

  /// Ports that share out a segment in a stage 1..k: all of them, or as many as there are aligned rows.
  std::int32_t ports(std::int32_t stage) const noexcept { return stage == k_ ? 2 * k_ : stage == 1 ? first_ports_ : middle_ports_; }
  /// Whether a stage uses only rows that need no alignment, and so has no alignment step. The last one has none either.
  bool aligned(std::int32_t stage) const noexcept { return ports(stage) < 2 * k_; }

  struct Moment {
    std::int32_t stage;  ///< 1..k
    Step step;           ///< of the stage, from 0; distribution_steps(): the alignment step
  };
  Moment moment(Step now) const noexcept;
  Step distribution_steps() const noexcept { return distribution_; }
  /// Steps of the whole broadcast, and how many of these are alignment steps.
  Step steps() const noexcept { return steps_; }
  Step alignment_steps() const noexcept { return steps_ - static_cast<Step>(k_) * distribution_; }

 private:
  std::int32_t k_;
  std::int32_t first_ports_;
  std::int32_t middle_ports_;
  Step distribution_;
  Step first_;   // steps of stage 1
  Step middle_;  // of each stage 2..k-1
  Step steps_;
};

/// The program of a node; the root is the node that holds the message.
Program wang_tseng_program(Node& self, const WangTsengSchedule& schedule);

}  // namespace torus::broadcast
