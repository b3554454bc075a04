/// Multi-node broadcast over arc-disjoint spanning trees: 2k trees a source, each message cut in 2k U segments, segment y on tree y mod 2k.
///
/// The trees of a source are those of node 0, moved: node v stands in source o's trees at displacement v - o, which a node reads off the
/// identity of an arriving block. Whatever the sources, almost every link carries s m / 2k bytes in all.
///   edst            synchronous: all that a step brought goes on in the next, one bundle a channel.       height steps
///   edst --chunk C  pipelined: at most C segments a channel and step, first in, first out. To end without a global eye the sources
///   edst-pipelined  are counted first (ternary along each dimension, and back); a node is through when it holds 2k U s segments and has
///                   none to pass on.                       2 sum L3(n_t) + height + ceil(s U / C) steps as a rule
/// Limit of the pipelined steps: 2 sum L3(n_t) + ceil(U/C) + (height-1) ceil(s U / C). As the 2k trees of a source enter a node by 2k
/// channels, a channel carries one tree's segments of each source, s U in all, and each of them once. Every step in which one of them waits
/// takes C others away, so it crosses the channel within ceil(s U / C) steps of reaching it; on the first channel of its way it stands
/// behind no more than the U of its own source. The rule above is an estimate: most runs end below it, on some shapes a run takes a third
/// more.
/// Machine  torus of 1..8 dimensions of more than one node, packet (single hops; the counting: wormhole), all ports, no channel shared.
/// Memory   6 N k bytes of tables, 14 N k while they are made; a node queues at most all segments.   Header  counting: one word; data:
/// none. Source   Varvarigos & Bertsekas, partial multinode broadcast; the trees and the counting: this project.
#pragma once

#include <memory>

#include <torus/algorithm.hpp>

#include "algorithms/multinode_broadcast/line_tree.hpp"
#include "algorithms/multinode_broadcast/spanning_trees.hpp"

namespace torus::multinode {

extern const Algorithm edst;
extern const Algorithm edst_pipelined;

/// What every node knows beforehand.
class Forest {
 public:
  /// segments: a multiple of the number of trees (1 if there is none).
  Forest(const Topology& topology, std::uint32_t segments);

  std::uint32_t trees() const noexcept { return trees_.trees(); }
  std::uint32_t segments() const noexcept { return segments_; }
  std::uint32_t height() const noexcept { return trees_.height(); }
  std::span<const Dimension> axes() const noexcept { return axes_; }
  /// For the counting, a tree for each axis.
  std::span<const LineTree> counting() const noexcept { return counting_; }
  std::uint32_t counting_steps() const noexcept;
  std::uint32_t counting_hops() const;
  Bytes table_bytes() const noexcept { return children_.size() * (sizeof(std::uint16_t) + sizeof(Direction)); }

  /// The directions in which a node passes a block on, a bit each.
  std::uint16_t onward(const Topology& topology, NodeId at, BlockId block) const noexcept;
  /// The leg of a direction.
  Leg leg(Direction d) const noexcept { return {axes_[d / 2], d % 2 == 0 ? +1 : -1}; }

  /// Synchronous: sum over the steps of the most bytes on a channel; exact if all nodes are sources, else for random ones, about.
  double channel_bytes(double s, Bytes m) const;

 private:
  std::vector<Dimension> axes_;  ///< of more than one node
  SpanningTrees trees_;
  std::uint32_t segments_;
  std::vector<std::uint16_t> children_;  ///< by displacement and tree
  std::vector<LineTree> counting_;
};

Program edst_program(Node& self, const Forest& forest);
Program edst_pipelined_program(Node& self, const Forest& forest, std::uint32_t chunk);

}  // namespace torus::multinode
