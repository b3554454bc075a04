/// Broadcast by dimension-ordered wormhole messages on a square torus. Stage i covers the i-th line of supernodes by the splitting rule:
/// each holder splits its segment into 2k+1 parts and informs one of them by each port (rows of tracks.hpp). The holders of a supernode
/// then lie in a shifted copy of the subgroup that the next stage starts from. An alignment step moves the message to the subgroup's
/// place. The holders that it moves away from retire: they keep the message, but send nothing until they receive it again.
/// Machine  wormhole, dimension-ordered in the machine's routing order, all ports, no channel shared, torus n x .. x n.
/// Memory   O(1) a node.
/// Steps    k T + (k-1), T = ceil(log_{2k+1} n); at most 2(k-1) above ceil(log_{2k+1} N). The alignment steps of n = 2 and 3, which no
///          node needs, count.
///          Trimmed: only rows that need no alignment, where that costs no step: k T + [ceil(log_3 n) > T] + (k-2) [ceil(log_5 n) > T].
/// Header   the source's rank and the length of the child's segment; the stage follows from the step.
/// Source   Wang & Tseng, sections 3 and 4; the trimmed form is ours.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::broadcast {

extern const Algorithm wang_tseng;
extern const Algorithm wang_tseng_trimmed;

/// The stages by step. Every node computes them from the machine alone.
class WangTsengSchedule {
 public:
  WangTsengSchedule(std::int32_t dimensions, std::int32_t extent, bool trimmed);

  /// Ports by which a holder sends in a stage 1..k: all of them, or as many as there are aligned rows.
  std::int32_t ports(std::int32_t stage) const noexcept { return stage == k_ ? 2 * k_ : stage == 1 ? first_ports_ : middle_ports_; }
  /// Whether a stage uses only rows that need no alignment. It has no alignment step then; nor has the last stage.
  bool aligned(std::int32_t stage) const noexcept { return ports(stage) < 2 * k_; }

  struct Moment {
    std::int32_t stage;  ///< 1..k
    Step step;           ///< of the stage, from 0; equal to distribution_steps() in the alignment step
  };
  Moment moment(Step now) const noexcept;
  Step distribution_steps() const noexcept { return distribution_; }
  /// Steps of the whole broadcast, and the number of alignment steps among them.
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
