/// One wormhole step in dimension order from a set of informed nodes to a set of targets, as a bipartite matching: on one side what each
/// sender can send, on the other the targets.
///
/// A *cell* is a line of nodes along the last dimension. Senders and targets cut their cell into gaps. A sender has
///  - two messages along its cell: to the next target up and down, if no sender comes first;
///  - two messages along each other dimension: to any column before the next sender of that line, and from there along the column's cell
///    to the target at either end of the gap that it meets.
/// So every stretch of a line between two senders carries the messages of one sender each way, and every gap of a cell those to the target
/// at its ends: any matching is free of conflicts. It restricts what a message may do (it turns at most once), so that a step may exist
/// although no matching does. With fewer ports than channels a sender uses as many of its messages as it has ports.
///
/// Method   Hopcroft and Karp's, from a start where every message takes the nearest target that is free. A message of a sender without a
///          free port frees one of its others.
/// Memory   some 20 bytes a node and 12 for each pair of a message and a target that it can reach.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <torus/topology.hpp>

#include "algorithms/broadcast/circuit/schedule.hpp"

namespace torus::broadcast {

class OrderedStep {
 public:
  /// A whole torus or mesh, or a mix. The topology must outlive this.
  OrderedStep(const Topology& topology, std::int32_t ports);

  /// The dimension of the cells: the last one that has links.
  Dimension last() const noexcept { return last_; }

  /// Serves as many targets as one step can, as far as a matching tells, and returns their number. No node is both sender and target.
  std::size_t solve(std::span<const NodeId> senders, std::span<const NodeId> targets);
  /// Targets of the last problem that are not served.
  std::vector<NodeId> unserved() const;
  /// The messages of the last solution.
  std::vector<Circuit> messages() const;
  /// Pairs examined in all problems so far: their cost, the same on every computer.
  std::uint64_t looks() const noexcept { return looks_; }

 private:
  enum class Role : std::uint8_t { none, sender, target };

  /// A message and a target that it can reach: hops along the message's dimension, then along the cell.
  struct Pair {
    std::uint32_t message;
    std::int32_t hops;
    std::int32_t cell_hops;
  };
  struct Message {
    NodeId sender;
    Dimension dimension;
  };

  void mark_gaps(NodeId first);
  void find_pairs(std::span<const NodeId> senders);
  void offer(std::uint32_t message, NodeId at, std::int32_t hops);
  std::int32_t gap(NodeId from, NodeId to, std::int32_t way) const;
  void sort_pairs();
  void greedy_start();
  bool find_levels();
  bool augment(std::uint32_t target);
  std::uint32_t& sent_by_sender_of(std::uint32_t message) { return sent_[message / channels_]; }
  bool has_port(std::uint32_t message) { return sent_by_sender_of(message) < static_cast<std::uint32_t>(ports_); }
  std::span<std::uint32_t> served_by_sender_of(std::uint32_t message) {
    return std::span(served_).subspan(message - message % channels_, channels_);
  }

  const Topology& topology_;
  std::int32_t ports_;
  std::size_t channels_;  // of a node in the middle, and messages of a sender
  Dimension last_ = 0;
  std::int32_t rows_ = 1;  // of a cell
  bool ring_ = false;      // a cell is
  std::vector<Role> role_;
  std::vector<NodeId> up_, down_;     // by node: the next sender or target of its cell; the node itself if it meets none other
  std::vector<std::uint32_t> index_;  // by node: its place among the targets
  std::vector<NodeId> targets_;
  std::vector<Message> messages_;
  std::vector<std::pair<std::uint32_t, Pair>> found_;  // by message: target, pair
  std::vector<std::uint32_t> first_;                   // by target: its first pair
  std::vector<Pair> pairs_;
  std::vector<std::uint32_t> taken_;         // by target: its pair
  std::vector<std::uint32_t> served_;        // by message: its target
  std::vector<std::uint32_t> sent_;          // by sender: its messages that have one
  std::vector<std::uint32_t> level_, next_;  // by target: of the present round
  std::uint64_t looks_ = 0;
};

/// How many nodes of each cell (line along the last dimension) are informed before each step of a wormhole broadcast in dimension order.
///
/// A step makes at most three of an informed node within its cell, and each informed node sends two messages along each other dimension:
/// those go where most nodes would be missing at the end if the cells grew by themselves from then on. With fewer ports than channels a
/// cell first grows no more than it must to be full in time, then messages pass between cells, then it grows by what its ports are left.
/// By step, and by cell: nodes informed before it. The last row is what all steps inform: all nodes.
using CellCounts = std::vector<std::vector<std::int32_t>>;

/// Counts that fill all cells in `steps` steps from `root`; none if this rule finds none. `reserve` in 0..1: the share of
/// the messages between cells that is left unused, so that the places can be found more easily. If there is one, few ports are
/// used evenly: all steps multiply the informed nodes alike. `idle`: messages along the
/// root's cell that reach no node in a step, since the root stands at an end or near it. `order`: by cell, least first among
/// equals.
std::optional<CellCounts> cell_counts(const Topology& topology, std::int32_t ports, Dimension last, NodeId root, std::uint32_t steps,
                                      double reserve, std::int32_t idle, std::span<const std::uint64_t> order);

}  // namespace torus::broadcast
