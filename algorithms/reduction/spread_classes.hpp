/// Which way each block of a scatter goes, and when it leaves the root, so that no block ever waits (spread.cpp).
///
/// The block of each node belongs to a class (d, sign), d a dimension in which the node differs from the root. It travels dimension d
/// first, then d+1 and so on cyclically, always the shorter way. At half a ring both ways are shortest. Half-ring offsets at the start of
/// the route take the sign of the first other offset on it, or either sign if there is none. Later ones take +.
/// No two blocks meet. In classes of different first dimensions, one has offset 0 where the other has not. (d, +) and (d, -) share only
/// columns of offset n/2, and there the signs of the next leg differ. Blocks of one class leave in different steps.
///
/// When a block leaves is a matching of nodes with the steps of classes. The blocks of a class leave one a step, the farthest first. Within
/// T steps a class has room for T - e + 1 nodes at distance e or more, for each e. The farthest nodes are assigned first, to the class that
/// has fewest; where all classes of a node are full, others make room (augmenting paths, which find a matching if there is one).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <torus/block.hpp>
#include <torus/machine.hpp>
#include <torus/route.hpp>

namespace torus::reduction {

/// Blocks that leave in one direction: 2 d, and 1 more for -.
using SpreadClass = std::uint8_t;

class SpreadClasses {
 public:
  /// Tries numbers of steps, from the lower bound for single blocks upwards.
  SpreadClasses(const Topology& topology, NodeId root);

  Step steps() const noexcept { return steps_; }
  /// The step in which a node's block leaves the root.
  Step leaving(NodeId node) const noexcept { return leaving_[node]; }
  /// The nodes whose blocks leave the root in a step.
  std::vector<NodeId> leaving_in(Step step) const;
  /// Blocks that arrive at a node, its own among them.
  std::uint32_t passing(NodeId node) const noexcept { return passing_[node]; }
  /// The next hop of a node's block from `at`, away from the root and towards it. None at the end.
  std::optional<Leg> outwards(const Topology& topology, NodeId at, NodeId node) const noexcept;
  std::optional<Leg> inwards(const Topology& topology, NodeId at, NodeId node) const noexcept;
  Bytes table_bytes() const noexcept;

 private:
  std::int32_t offset(const Topology& topology, NodeId node, Dimension d) const noexcept;
  std::int32_t sign(const Topology& topology, NodeId node, SpreadClass c, Dimension d) const noexcept;
  std::vector<SpreadClass> classes_of(const Topology& topology, NodeId node) const;
  void leave(const Topology& topology, NodeId node);

  NodeId root_;
  Step steps_ = 0;
  std::vector<SpreadClass> class_;
  std::vector<Step> leaving_;
  std::vector<std::uint32_t> passing_;
  std::vector<std::vector<NodeId>> by_class_;  // in the order of leaving
};

}  // namespace torus::reduction
