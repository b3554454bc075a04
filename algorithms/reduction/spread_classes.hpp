/// The ways of the blocks of a scatter, so that none ever waits: see spread.hpp.
///
/// The block of each node belongs to a class (d, sign), d a dimension in which the node differs from the root. It travels dimension d
/// first, then d+1, .. cyclically, the shortest ways. Halfway round a ring there are two of them. An offset of half a ring that no other
/// offset precedes on the way takes the sign of the first that is not such; the sign is free if there is none. Elsewhere it goes +.
/// Of two classes of different first dimensions one has offset 0 where the other's has not; (d, +) and (d, -) share only columns of offset
/// n/2, and there the signs of the next leg differ; within a class the step of leaving tells. So no two blocks meet.
/// leaving_steps.hpp assigns the nodes to the classes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <torus/block.hpp>
#include <torus/machine.hpp>
#include <torus/route.hpp>

#include "algorithms/reduction/leaving_steps.hpp"

namespace torus::reduction {

class SpreadClasses {
 public:
  /// The fewest steps from the bound of the blocks one by one on.
  SpreadClasses(const Topology& topology, NodeId root);

  Step steps() const noexcept { return steps_; }
  /// The step in which a node's block leaves the root.
  Step leaving(NodeId node) const noexcept { return leaving_[node]; }
  /// The nodes whose blocks leave the root in a step.
  std::vector<NodeId> leaving_in(Step step) const;
  /// Blocks that come to a node on their way, its own among them.
  std::uint32_t passing(NodeId node) const noexcept { return passing_[node]; }
  /// The next hop of a node's block away from the root, and back to it. None at the end.
  std::optional<Leg> outwards(const Topology& topology, NodeId at, NodeId node) const noexcept;
  std::optional<Leg> inwards(const Topology& topology, NodeId at, NodeId node) const noexcept;
  Bytes table_bytes() const noexcept;

 private:
  std::int32_t offset(const Topology& topology, NodeId node, Dimension d) const noexcept;
  std::int32_t sign(const Topology& topology, NodeId node, SpreadClass c, Dimension d) const noexcept;
  std::vector<SpreadClass> classes_of(const Topology& topology, NodeId node) const;
  void leave(const Topology& topology, const std::vector<LeavingNode>& nodes, std::size_t classes);

  NodeId root_;
  Step steps_ = 0;
  std::vector<SpreadClass> class_;
  std::vector<Step> leaving_;
  std::vector<std::uint32_t> passing_;
  std::vector<std::vector<NodeId>> by_class_;  // in the order of leaving
};

}  // namespace torus::reduction
