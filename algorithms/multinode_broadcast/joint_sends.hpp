/// What one node of `joint-swath` sends when.
#pragma once

#include <torus/node.hpp>

#include "algorithms/multinode_broadcast/joint_schedule.hpp"

namespace torus::multinode {

/// One node's view of the schedule, which it knows from the names of the sources.
class JointView {
 public:
  JointView(Node& node, const JointFrame& known, const JointSchedule& found) : self{node}, frame{known}, schedule{found} {}

  Node& self;
  const JointFrame& frame;
  const JointSchedule& schedule;

  void scatter(const JointSchedule::Round& round, Step step) const;
  /// Along the dimensions along(part, e).
  void spread_along_row(const JointSchedule::Round& round, std::size_t e, Step step) const;
  /// Gives the neighbours what they take from here of the pieces, or of the shares.
  void gather(Step step) const;
  void gather_shares(Step step) const;

 private:
  /// Of a piece that the node's row has: what the node itself has after the rows.
  JointSchedule::Blocks kept(NodeId source, std::uint32_t part, std::int32_t piece) const;
  /// One step of a gather along(part, e). add_class(round, class, f) calls f(blocks) for what a class has of a round.
  template <class F>
  void give(std::uint32_t part, std::size_t e, const broadcast::RowClasses& classes, Step step, F&& add_class) const;
};

}  // namespace torus::multinode
