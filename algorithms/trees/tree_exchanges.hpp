/// A packing of spanning trees in work: p trees at all times, and exchanges of links that relieve links in too many of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "algorithms/trees/spanning_trees.hpp"

namespace torus::spanning {

inline constexpr NodeId no_node = std::numeric_limits<NodeId>::max();
inline constexpr std::uint32_t none = LinkGraph::none;
inline constexpr std::uint32_t no_limit = none / 2;

template <class T>
void shuffle(std::vector<T>& list, std::mt19937_64& random) {
  for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[random() % i]);
}

/// p spanning trees at all times, and the exchanges that relieve links in too many of them.
class Packing {
 public:
  Packing(const LinkGraph& graph, const TreeCount& count, std::mt19937_64& random)
      : graph_{&graph}, random_{&random}, count_{count}, ranks_{graph.ranks()}, load_(graph.links()), trees_(count.trees), mark_(ranks_) {
    for (Tree& tree : trees_) tree.nodes.assign(ranks_, {});
  }

  /// A tree of shortest paths from a node or, if there is a second, from the two ends of a link. Each node takes the link that is in the
  /// fewest trees.
  void grow(std::uint32_t k, NodeId a, NodeId b, std::uint32_t middle, const std::vector<std::uint32_t>& distance);
  /// A tree over the links that are in the fewest trees, of any height.
  void grow_freely(std::uint32_t k, NodeId root);
  void limit(std::uint32_t k, std::uint32_t height) noexcept { trees_[k].limit = height; }
  /// Middles and limits for a diameter that none exceeds.
  void relax(std::uint32_t diameter);

  /// Whether no link is in too many trees in the end. It looks at about `work` links at most. Without limits on heights it fails
  /// only if it is impossible.
  bool repair(std::uint64_t work, unsigned kicks);
  /// Links looked at by the last repair().
  std::uint64_t work() const noexcept { return work_; }
  /// By how much links are in too many trees, in all.
  std::uint64_t overload() const noexcept {
    std::uint64_t sum = 0;
    for (std::uint32_t link = 0; link < load_.size(); ++link) sum += overloaded(link) ? load_[link] - room(link) : 0;
    return sum;
  }
  /// After repair() without limits has failed: classes that need more, less one, and the capacities between them. `partition`: the class of
  /// each rank, if it is not null.
  std::pair<std::uint64_t, std::uint64_t> proof(std::vector<NodeId>* partition) const;

  std::vector<SpanningTree> result();

 private:
  struct Place {
    NodeId parent = no_node;
    std::uint32_t link = none, depth = 0, height = 0;
  };
  struct Tree {
    NodeId root = 0;
    std::uint32_t middle = none, limit = no_limit;
    std::vector<Place> nodes;
  };
  /// The search came from a link: in a tree the subtree of `top` leaves its parent, and hangs by its node `inner` on `outer` instead.
  struct Swap {
    std::uint32_t from = none, tree = 0;
    NodeId top = 0, inner = 0, outer = 0;
  };
  enum class Moves : std::uint8_t { parents, subtrees };

  std::uint32_t below_limit(std::uint64_t n) { return static_cast<std::uint32_t>((*random_)() % n); }
  std::uint32_t room(std::uint32_t link) const noexcept { return count_.per_link * graph_->capacity(link); }
  bool full(std::uint32_t link) const noexcept { return load_[link] >= room(link); }
  bool overloaded(std::uint32_t link) const noexcept { return load_[link] > room(link); }
  /// How one link is filled for its capacity, compared with another one: less than 0, 0 or more.
  std::int64_t fuller(std::uint32_t link, std::uint32_t than) const noexcept {
    return std::int64_t{load_[link]} * graph_->capacity(than) - std::int64_t{load_[than]} * graph_->capacity(link);
  }
  /// The lower end of a link in a tree; no_node if the tree does not have it.
  NodeId lower_end(const Tree& tree, std::uint32_t link) const noexcept {
    const LinkGraph::Link& l = graph_->link(link);
    return tree.nodes[l.from].link == link ? l.from : tree.nodes[l.to].link == link ? l.to : no_node;
  }
  static bool is_below(const Tree& tree, NodeId node, NodeId top) noexcept {
    while (tree.nodes[node].depth > tree.nodes[top].depth) node = tree.nodes[node].parent;
    return node == top;
  }
  template <class F>
  void each_child(const Tree& tree, NodeId node, F&& f) const {
    for (const auto& [to, link] : graph_->around(node)) {
      if (tree.nodes[to].link == link && tree.nodes[to].parent == node) f(to);
    }
  }
  std::uint32_t height_of(const Tree& tree, NodeId node, NodeId without = no_node) const noexcept {
    std::uint32_t height = 0;
    each_child(tree, node, [&](NodeId child) {
      if (child != without && tree.nodes[child].link != tree.middle) height = std::max(height, tree.nodes[child].height + 1);
    });
    return height;
  }
  void raise_heights(Tree& tree, NodeId node);
  /// Parents before children, from the root.
  std::vector<NodeId> order_of(const Tree& tree) const;
  /// Depths and heights from the parents.
  void measure(Tree& tree);
  /// Roots a tree in the middle of its longest path.
  void centre(Tree& tree);
  /// The longest path from a node, as the nodes on it.
  std::vector<NodeId> longest_path(const Tree& tree, NodeId from) const;

  void reparent(Tree& tree, NodeId node, NodeId parent, std::uint32_t link);
  void rehang(Tree& tree, const Swap& swap, std::uint32_t link);
  bool fits(const Tree& tree, NodeId top, NodeId inner, NodeId outer) const noexcept;
  bool swap(const Swap& swap, std::uint32_t link);
  bool apply_chain(std::uint32_t link);
  unsigned search(Moves moves);
  template <class Visit>
  void visit_parents(std::uint32_t link, std::uint32_t k, NodeId top, Visit&& visit);
  template <class Visit>
  void visit_subtree(std::uint32_t link, std::uint32_t k, NodeId top, Visit&& visit);
  void kick(unsigned steps);

  const LinkGraph* graph_;
  std::mt19937_64* random_;
  TreeCount count_;
  NodeId ranks_;
  std::vector<std::uint32_t> load_;  // by link
  std::vector<Tree> trees_;
  std::uint64_t work_ = 0, half_applied_ = 0;
  // What one search keeps:
  std::vector<Swap> came_by_;  // by link
  std::vector<bool> seen_;
  std::vector<std::uint32_t> queue_, mark_;
  std::vector<NodeId> stack_;
  std::uint32_t stamp_ = 0;
};

}  // namespace torus::spanning
