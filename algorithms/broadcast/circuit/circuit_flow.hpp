/// One circuit-switched step from a set of informed nodes to a set of targets, as a maximum flow: each channel once, each sender at most
/// `ports` circuits, each target one. A circuit may pass through any node. The flow serves all targets if and only if one step can.
///
/// Method   Dinic's, from a start where every sender serves neighbours directly. On unit channels about O(sqrt N) rounds of O(N k).
/// Memory   about 10k + 20 bytes a node, and the circuits found; kept from one problem to the next.
/// Source   the max-flow form of a step is ours; it replaces the paper's case-by-case closing figures.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <torus/topology.hpp>

#include "algorithms/broadcast/circuit/schedule.hpp"

namespace torus::broadcast {

class CircuitFlow {
 public:
  /// A torus or mesh, or a mix, whose dead links no circuit takes. The topology must outlive the flow.
  CircuitFlow(const Topology& topology, std::int32_t ports);

  /// Serves as many targets as one step can, and returns their number. No node is both sender and target.
  std::size_t solve(std::span<const NodeId> senders, std::span<const NodeId> targets);
  /// Targets of the last problem that are not served.
  std::vector<NodeId> unserved() const;
  /// Circuits that a node sends in the last solution.
  std::int32_t sends(NodeId node) const noexcept { return sent_[node]; }
  /// The last solution as circuits without loops. Consumes the solution: call it once a problem.
  std::vector<Circuit> circuits();
  /// Channels examined in all problems so far: their cost, the same on every computer.
  std::uint64_t looks() const noexcept { return looks_; }

 private:
  enum class Role : std::uint8_t { none, sender, target, served };

  std::size_t channel(NodeId node, std::int32_t direction) const noexcept {
    return static_cast<std::size_t>(node) * static_cast<std::size_t>(directions_) + static_cast<std::size_t>(direction);
  }
  void greedy_start();
  bool find_levels();
  bool augment(NodeId sender);
  void push(NodeId from, std::int32_t direction, NodeId to);
  /// Whether the flow can grow by a channel: it is free, or the opposite one can be freed.
  bool open(NodeId from, std::int32_t direction, NodeId to) const noexcept {
    return used_[channel(to, direction ^ 1)] != 0 || used_[channel(from, direction)] == 0;
  }

  std::int32_t ports_;
  std::int32_t directions_;         // channels that leave a node: 2d and 2d+1 in dimension d
  std::vector<NodeId> next_;        // by channel: the node at its other end; the node itself where there is no link
  std::vector<std::uint8_t> used_;  // by channel
  std::vector<Role> role_;
  std::vector<std::int32_t> sent_;
  std::vector<std::uint32_t> level_;
  std::vector<std::uint8_t> tried_;  // by node: directions that the present round has finished
  std::vector<NodeId> queue_;
  std::vector<NodeId> senders_;
  std::vector<NodeId> targets_;
  std::vector<std::pair<NodeId, std::int32_t>> path_;
  std::uint64_t looks_ = 0;
};

}  // namespace torus::broadcast
