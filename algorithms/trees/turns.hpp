/// The search for turns of spanning trees on their links (tree_times.hpp).
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "algorithms/trees/spanning_trees.hpp"

namespace torus::tree_times {

/// By rank: the step in which the link to the parent carries the first segment up and down. A middle link carries it both ways at the same
/// time.
struct Times {
  std::vector<std::uint32_t> up, down;
};

/// Depths from the middle of a tree, the root's and that of the other end of a middle link 0; heights of the subtrees.
struct Levels {
  Levels(const LinkGraph& graph, const SpanningTree& tree);
  std::vector<std::uint32_t> depth, height;
  std::uint32_t most = 0;
};

/// Whether a tree has a middle link.
bool any_middle(const std::vector<SpanningTree>& trees);

/// Turns of the trees on their links, in periods of q steps.
///
/// Up is down backwards: what goes down s steps after the trees meet goes up s steps before it. A channel that carries tree i down s steps
/// after that, and tree j up t steps before, is free of collisions if s + t is no multiple of q. So a link has q *turns*: a tree that goes
/// down by it after s steps takes turn s modulo q in one direction, -s modulo q in the other; two trees never take the same. Middle links
/// take turn 0. Where no tree has a middle link the way down begins a step earlier, and -s becomes 1 - s.
///
/// A link of capacity c has c *lanes*, with a tree each in every turn. What a channel carries in a step is of one manner, so the trees of a
/// turn all go down by it in the same direction; and trees have no middle links. So the period is up to q + 1 where links have capacities.
class Turns {
 public:
  Turns(const LinkGraph& graph, const std::vector<SpanningTree>& trees, std::uint32_t per_link);

  std::uint32_t period() const noexcept { return period_; }

  /// Fewer steps, as far as a bounded search finds.
  void shorten();
  /// As many trees as were given, no link in more of them. Of those with the same middle link all but one are rooted at an end of it.
  std::vector<SpanningTree> trees() const;
  std::vector<Times> times() const;

 private:
  static constexpr std::uint32_t none = LinkGraph::none;

  struct Tree {
    SpanningTree shape;
    std::vector<NodeId> parent;       // by rank
    std::vector<std::uint32_t> turn;  // of the link to the parent
    std::vector<std::uint32_t> lane;  // of that link
    std::vector<std::uint32_t> step;  // after how many steps that link carries the tree's part down
    std::uint64_t late = 0;           // sum over the nodes of the square of how many steps after the wanted one they have it

    /// Nodes that hang on their parent by a link that is not the middle.
    bool hangs(NodeId node) const noexcept { return shape.link[node] != none && shape.link[node] != shape.middle; }
  };
  struct Waiting {
    std::uint32_t height, tree;
    NodeId node;
  };
  /// A turn of a lane of a link.
  struct Cell {
    std::uint32_t link, turn, lane = 0;
  };
  enum class Direction : std::uint8_t { along, against };  // of the link, in which a tree goes down by it

  std::uint32_t trees_count() const noexcept { return static_cast<std::uint32_t>(trees_.size()); }
  std::uint32_t turn_at(const Tree& tree, NodeId node, std::uint32_t step) const noexcept {
    const bool along = graph_.link(tree.shape.link[node]).to == node;
    return along ? step % period_ : (period_ + backwards_ - step % period_) % period_;
  }
  /// The first step from one on in which the node's link has its turn.
  std::uint32_t step_of(const Tree& tree, NodeId node, std::uint32_t from) const noexcept {
    const bool along = graph_.link(tree.shape.link[node]).to == node;
    const std::uint32_t at = turn_at(tree, node, from), turn = tree.turn[node];
    return from + (along ? turn + period_ - at : at + period_ - turn) % period_;
  }
  /// The tree that has it; none.
  std::uint32_t& holder(const Cell& cell) noexcept {
    return holder_[first_cell_[cell.link] + std::size_t{cell.turn} * graph_.capacity(cell.link) + cell.lane];
  }
  Direction direction(NodeId lower_end, std::uint32_t link) const noexcept {
    return graph_.link(link).to == lower_end ? Direction::along : Direction::against;
  }
  /// Whether all trees with a turn of a link, that in one lane aside, go down in a direction.
  bool all_go(const Cell& but, Direction direction) noexcept;
  /// A lane of that turn: a random one.
  Cell some_lane(std::uint32_t link, std::uint32_t turn) noexcept {
    const std::uint32_t lanes = graph_.capacity(link);
    return {link, turn, lanes > 1 ? below(lanes) : 0};
  }
  /// The lower end of a link in a tree that has it.
  NodeId lower_end(const Tree& tree, std::uint32_t link) const noexcept {
    return tree.shape.link[graph_.link(link).to] == link ? graph_.link(link).to : graph_.link(link).from;
  }
  class Room;
  void take_turns();
  std::uint64_t lateness(std::uint32_t step) const noexcept {
    return step > wanted_ ? std::uint64_t{step - wanted_} * (step - wanted_) : 0;
  }
  void measure_all(Tree& tree);
  /// The steps below a node whose turn has changed.
  void measure(Tree& tree, NodeId node);
  std::uint32_t latest() const noexcept;
  /// Looks for turns with which every node has its part at most `wanted` steps after the trees meet.
  bool reach(std::uint32_t wanted);

  /// A random node that is late.
  NodeId late_node(const Tree& tree);
  /// Takes an earlier turn for a hop on the way to a late node, and gives its own to the tree that had that one.
  void change_turns(std::uint32_t k, NodeId late);
  /// Replaces a hop on the way to a late node by a link of another tree, which gets that of the hop instead: both stay spanning trees.
  void change_links(std::uint32_t k, NodeId late);
  /// Hangs the part of a tree below `top` by another link, from `inner` in it to `outer`.
  void rehang(Tree& tree, NodeId top, NodeId inner, NodeId outer, const Cell& by);
  /// apply() moves tree k from a cell to another one, and the other tree, if there is one, back. Undone if too much gets later by it.
  template <class Apply>
  void change(std::uint32_t k, const Cell& from, const Cell& to, Apply&& apply);

  std::uint32_t below(std::uint64_t n) { return static_cast<std::uint32_t>(random_() % n); }

  const LinkGraph& graph_;
  std::uint32_t period_;
  bool lanes_;                   // whether a link has several
  std::uint32_t backwards_ = 0;  // 1 where no tree has a middle link
  std::mt19937_64 random_{1};
  std::vector<Tree> trees_;
  std::vector<std::size_t> first_cell_;  // by link
  std::vector<std::uint32_t> holder_;    // by cell: a tree
  // What the search keeps:
  std::uint32_t wanted_ = 0;
  std::uint64_t work_ = 0, most_work_;  // nodes looked at
  Tree mine_, its_;                     // before a change
  std::vector<bool> moved_;
};

}  // namespace torus::tree_times
