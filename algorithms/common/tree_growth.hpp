/// Arc-disjoint spanning trees on their way, and the flows that tell whether they can be completed: see packed_trees.hpp.
#pragma once

#include <cstdint>
#include <vector>

#include <torus/route.hpp>
#include <torus/topology.hpp>

namespace torus {

class TreeGrowth {
 public:
  struct Arc {
    NodeId from, to;
    Leg leg;
  };

  /// As many trees as the least cut between the root and a living node has arcs, each of the root alone.
  TreeGrowth(const Topology& topology, NodeId root);

  std::uint32_t trees() const noexcept { return trees_; }
  /// The arcs out of a node are numbered from here to the first of the next node.
  std::uint32_t first_out(NodeId node) const noexcept { return first_out_[node]; }
  const Arc& arc(std::uint32_t a) const noexcept { return arcs_[a]; }

  /// Adds an arc from a node of a tree to it, if its head is not in the tree yet and all trees can still be completed.
  bool add(std::uint32_t a, std::uint32_t tree);

 private:
  /// Where a unit goes from a node or a source on its way to the target: over an arc or, if it is none, to a source or from it.
  struct Way {
    std::uint32_t next, arc;
  };

  void start(NodeId root, std::uint32_t trees);
  /// Units that flow to a node from the sources, at most `wanted`.
  std::uint32_t flow_to(NodeId target, std::uint32_t wanted);
  /// Searches backwards from the target for a source that feeds nothing, and sends a unit.
  bool one_more(NodeId target);
  void visit(std::uint32_t place, Way way);
  /// The places from which a unit can come to a node.
  void visit_before(NodeId at);
  void send(std::uint32_t from, NodeId target);

  NodeId nodes_;
  std::uint32_t trees_ = 0;
  std::vector<Arc> arcs_;                 // by their tails
  std::vector<std::uint32_t> first_out_;  // by node
  std::vector<std::vector<std::uint32_t>> in_;
  std::vector<bool> free_;
  std::vector<std::uint64_t> member_;  // trees that have the node, a bit each
  // Of one flow.
  std::vector<bool> carries_;
  std::vector<std::uint32_t> carrying_;  // arcs that do or did
  std::vector<std::uint32_t> feeds_;     // by source: the node
  // Of one search. Places are nodes, then sources.
  std::uint32_t search_ = 0;
  std::vector<std::uint32_t> seen_, queue_;
  std::vector<Way> way_;
};

}  // namespace torus
