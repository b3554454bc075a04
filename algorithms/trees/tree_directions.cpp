#include "algorithms/trees/tree_directions.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

namespace torus::tree_times {
namespace {

constexpr std::uint32_t none = LinkGraph::none;

class Directions {
 public:
  Directions(const LinkGraph& graph, std::uint32_t per_link, const std::vector<SpanningTree>& trees)
      : graph_{graph}, turns_{per_link}, trees_(trees.size()), going_(graph.links()), having_(graph.links()), mark_(graph.ranks()) {
    for (std::uint32_t k = 0; k < trees.size(); ++k) {
      Tree& tree = trees_[k];
      tree.root = trees[k].root;
      tree.link = trees[k].link;
      tree.parent.resize(graph.ranks());
      tree.depth.resize(graph.ranks());
      for (const NodeId node : trees[k].order) {
        const std::uint32_t link = tree.link[node];
        if (link == none) continue;
        tree.parent[node] = trees[k].parent(graph, node);
        tree.depth[node] = tree.depth[tree.parent[node]] + 1;
        highest_ = std::max(highest_, tree.depth[node]);
        add(link, k, node);
      }
    }
    for (std::uint32_t link = 0; link < graph.links(); ++link) {
      place_.push_back(none);
      settle(link);
      sum_ += off(link, going_[link]);
    }
  }

  /// Whether no link is off in the end.
  bool search(std::uint32_t least) {
    constexpr std::uint64_t patience = 1'000'000;
    for (std::uint64_t limit = patience; sum_ > 0; limit += patience) {
      while (sum_ > 0 && work_ < limit) step();
      if (sum_ == 0) break;
      if (trees_.size() <= least + left_out_) return false;
      leave_one_out();
    }
    return true;
  }

  std::vector<SpanningTree> result() const {
    std::vector<SpanningTree> shapes;
    for (const Tree& tree : trees_) {
      if (tree.link.empty()) continue;  // left out
      SpanningTree& shape = shapes.emplace_back(SpanningTree{tree.root, none, tree.link, {tree.root}});
      for (std::size_t i = 0; i < shape.order.size(); ++i)
        each_child(tree, shape.order[i], [&](NodeId child) { shape.order.push_back(child); });
    }
    return shapes;
  }

 private:
  struct Tree {
    NodeId root = 0;
    std::vector<std::uint32_t> link;   // to the parent, by rank
    std::vector<NodeId> parent;        // by rank
    std::vector<std::uint32_t> depth;  // by rank
  };
  using Going = std::array<std::uint32_t, 2>;  // trees along a link, and against it

  template <class F>
  void each_child(const Tree& tree, NodeId node, F&& f) const {
    for (const auto& [to, link] : graph_.around(node)) {
      if (tree.link[to] == link && tree.parent[to] == node) f(to);
    }
  }
  std::size_t direction(std::uint32_t link, NodeId lower) const noexcept { return graph_.link(link).to == lower ? 0 : 1; }
  /// How many trees at least must leave a link, or go the other way.
  std::uint64_t off(std::uint32_t link, const Going& going) const noexcept {
    const std::uint64_t lanes = graph_.capacity(link);
    const std::uint64_t full = std::min<std::uint64_t>(turns_, going[0] / lanes);
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    for (std::uint64_t along = full; along <= std::min<std::uint64_t>(turns_, full + 1); ++along) {
      const std::uint64_t room = lanes * along, other = lanes * (turns_ - along);
      least = std::min(least, (going[0] > room ? going[0] - room : 0) + (going[1] > other ? going[1] - other : 0));
    }
    return least;
  }
  void add(std::uint32_t link, std::uint32_t k, NodeId lower) {
    ++going_[link][direction(link, lower)];
    having_[link].push_back(k);
  }
  void drop(std::uint32_t link, std::uint32_t k, NodeId lower) {
    --going_[link][direction(link, lower)];
    auto& having = having_[link];
    *std::find(having.begin(), having.end(), k) = having.back();
    having.pop_back();
  }
  /// Keeps the list of the links that are off.
  void settle(std::uint32_t link) {
    const bool is_off = off(link, going_[link]) > 0;
    if (is_off == (place_[link] != none)) return;
    if (is_off) {
      place_[link] = static_cast<std::uint32_t>(off_.size());
      off_.push_back(link);
      return;
    }
    off_[place_[link]] = off_.back();
    place_[off_.back()] = place_[link];
    off_.pop_back();
    place_[link] = none;
  }
  std::uint32_t below(std::uint64_t n) { return static_cast<std::uint32_t>(random_() % n); }
  bool accepts(std::int64_t change) {
    constexpr double temperature = 0.35, whole = 0x1p32;
    return change <= 0 || below(std::uint64_t{1} << 32U) < whole * std::exp(-static_cast<double>(change) / temperature);
  }
  /// The highest depth below a node, itself included; its subtree is marked.
  std::uint32_t deepest(const Tree& tree, NodeId top) {
    ++stamp_;
    stack_.assign(1, top);
    mark_[top] = stamp_;
    std::uint32_t most = 0;
    for (std::size_t i = 0; i < stack_.size(); ++i) {
      most = std::max(most, tree.depth[stack_[i]]);
      each_child(tree, stack_[i], [&](NodeId child) {
        mark_[child] = stamp_;
        stack_.push_back(child);
      });
    }
    work_ += stack_.size();
    return most;
  }

  void step() {
    const std::uint32_t link = off_[below(off_.size())], k = having_[link][below(having_[link].size())];
    const Tree& tree = trees_[k];
    const LinkGraph::Link& l = graph_.link(link);
    const NodeId lower = tree.link[l.to] == link ? l.to : l.from;
    ++work_;
    if (tree.parent[lower] == tree.root && below(2) == 0)
      move_root(k, lower);
    else
      move_node(k, lower);
  }

  /// The tree without which links are off the least.
  void leave_one_out() {
    std::uint32_t best = none;
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    const auto each_link = [&](const Tree& tree, auto&& f) {
      for (const NodeId node : graph_.nodes()) {
        if (!tree.link.empty() && tree.link[node] != none) f(tree.link[node], node);
      }
    };
    for (std::uint32_t k = 0; k < trees_.size(); ++k) {
      if (trees_[k].link.empty()) continue;
      std::int64_t change = 0;
      each_link(trees_[k], [&](std::uint32_t link, NodeId node) {
        Going without = going_[link];
        --without[direction(link, node)];
        change += static_cast<std::int64_t>(off(link, without)) - static_cast<std::int64_t>(off(link, going_[link]));
      });
      if (change >= least) continue;
      least = change;
      best = k;
    }
    each_link(trees_[best], [&](std::uint32_t link, NodeId node) {
      drop(link, best, node);
      settle(link);
    });
    trees_[best].link.clear();
    sum_ = static_cast<std::uint64_t>(static_cast<std::int64_t>(sum_) + least);
    ++left_out_;
  }

  void move_node(std::uint32_t k, NodeId node) {
    Tree& tree = trees_[k];
    const auto around = graph_.around(node);
    const auto [to, link] = around[below(around.size())];
    const std::uint32_t before = tree.link[node];
    if (link == before) return;
    Going from = going_[before], onto = going_[link];
    --from[direction(before, node)];
    ++onto[direction(link, node)];
    const auto change = static_cast<std::int64_t>(off(before, from) + off(link, onto)) -
                        static_cast<std::int64_t>(off(before, going_[before]) + off(link, going_[link]));
    if (!accepts(change)) return;
    const std::uint32_t most = deepest(tree, node);
    if (mark_[to] == stamp_ || tree.depth[to] + 1 + most - tree.depth[node] > highest_) return;
    drop(before, k, node);
    add(link, k, node);
    const std::uint32_t deeper = tree.depth[to] + 1 - tree.depth[node];  // modulo 2^32
    for (const NodeId at : stack_) tree.depth[at] += deeper;
    tree.link[node] = link;
    tree.parent[node] = to;
    settle(before);
    settle(link);
    sum_ = static_cast<std::uint64_t>(static_cast<std::int64_t>(sum_) + change);
  }

  /// To a child of the root.
  void move_root(std::uint32_t k, NodeId child) {
    Tree& tree = trees_[k];
    const std::uint32_t link = tree.link[child];
    Going turned = going_[link];
    --turned[direction(link, child)];
    ++turned[direction(link, tree.root)];
    const auto change = static_cast<std::int64_t>(off(link, turned)) - static_cast<std::int64_t>(off(link, going_[link]));
    if (!accepts(change)) return;
    deepest(tree, child);
    for (const NodeId node : graph_.nodes()) {
      if (mark_[node] != stamp_ && tree.depth[node] + 1 > highest_) return;
    }
    work_ += graph_.nodes().size();
    for (const NodeId node : graph_.nodes()) tree.depth[node] += mark_[node] == stamp_ ? -1U : 1U;
    going_[link] = turned;
    tree.link[tree.root] = link;
    tree.parent[tree.root] = child;
    tree.link[child] = none;
    tree.root = child;
    settle(link);
    sum_ = static_cast<std::uint64_t>(static_cast<std::int64_t>(sum_) + change);
  }

  const LinkGraph& graph_;
  std::uint32_t turns_, highest_ = 0;
  std::vector<Tree> trees_;
  std::vector<Going> going_;                        // by link
  std::vector<std::vector<std::uint32_t>> having_;  // by link: the trees
  std::vector<std::uint32_t> off_, place_;          // links that are off; by link: where in that list
  std::vector<std::uint32_t> mark_;                 // by rank
  std::vector<NodeId> stack_;
  std::uint32_t stamp_ = 0, left_out_ = 0;
  std::uint64_t sum_ = 0, work_ = 0;
  std::mt19937_64 random_{1};
};

}  // namespace

std::vector<SpanningTree> with_even_directions(const LinkGraph& graph, std::uint32_t per_link, const std::vector<SpanningTree>& trees,
                                               std::uint32_t least) {
  Directions directions(graph, per_link, trees);
  return directions.search(least) ? directions.result() : std::vector<SpanningTree>{};
}

}  // namespace torus::tree_times
