#include "algorithms/trees/tree_exchanges.hpp"

#include <numeric>
#include <optional>
#include <set>
#include <tuple>

#include <torus/error.hpp>

namespace torus::spanning {

void Packing::raise_heights(Tree& tree, NodeId node) {
  while (node != no_node) {
    const std::uint32_t height = height_of(tree, node);
    if (height == tree.nodes[node].height) return;
    tree.nodes[node].height = height;
    if (tree.nodes[node].link == tree.middle) return;
    node = tree.nodes[node].parent;
  }
}

std::vector<NodeId> Packing::order_of(const Tree& tree) const {
  std::vector<NodeId> order{tree.root};
  order.reserve(graph_->nodes().size());
  for (std::size_t i = 0; i < order.size(); ++i) each_child(tree, order[i], [&](NodeId child) { order.push_back(child); });
  TORUS_ASSERT(order.size() == graph_->nodes().size());
  return order;
}

void Packing::measure(Tree& tree) {
  const std::vector<NodeId> order = order_of(tree);
  tree.nodes[tree.root].depth = 0;
  for (const NodeId node : order) {
    if (node == tree.root) continue;
    Place& place = tree.nodes[node];
    place.depth = tree.nodes[place.parent].depth + (place.link == tree.middle ? 0 : 1);
  }
  for (std::size_t i = order.size(); i-- > 0;) tree.nodes[order[i]].height = height_of(tree, order[i]);
}

void Packing::grow(std::uint32_t k, NodeId a, NodeId b, std::uint32_t middle, const std::vector<std::uint32_t>& distance) {
  Tree& tree = trees_[k];
  tree.root = a;
  tree.middle = middle;
  std::vector<std::tuple<std::uint32_t, std::uint64_t, NodeId>> order;
  for (const NodeId node : graph_->nodes()) order.emplace_back(distance[node], (*random_)(), node);
  std::sort(order.begin(), order.end());
  if (b != no_node) {
    tree.nodes[b] = {a, middle};
    ++load_[middle];
  }
  for (const auto& [far, tie, node] : order) {
    if (node == a || node == b) continue;
    Place best;
    std::uint32_t equals = 0;
    for (const auto& [to, link] : graph_->around(node)) {
      if (distance[to] >= far || (best.link != none && fuller(link, best.link) > 0)) continue;
      equals = best.link != none && fuller(link, best.link) == 0 ? equals + 1 : 1;
      if (below_limit(equals) == 0) best = {to, link};
    }
    tree.nodes[node] = best;
    ++load_[best.link];
  }
  measure(tree);
}

void Packing::grow_freely(std::uint32_t k, NodeId root) {
  Tree& tree = trees_[k];
  tree.root = root;
  std::vector<bool> in(ranks_);
  std::set<std::tuple<std::uint64_t, std::uint64_t, NodeId, std::uint32_t>> frontier;  // load for the capacity, tie, node inside, link
  const auto add = [&](NodeId node) {
    in[node] = true;
    for (const auto& [to, link] : graph_->around(node)) {
      if (!in[to]) frontier.emplace((std::uint64_t{load_[link]} << 24U) / graph_->capacity(link), (*random_)(), node, link);
    }
  };
  for (add(root); !frontier.empty();) {
    const auto [load, tie, node, link] = *frontier.begin();
    frontier.erase(frontier.begin());
    const NodeId to = graph_->link(link).from == node ? graph_->link(link).to : graph_->link(link).from;
    if (in[to]) continue;
    tree.nodes[to] = {node, link};
    ++load_[link];
    add(to);
  }
  measure(tree);
}

void Packing::reparent(Tree& tree, NodeId node, NodeId parent, std::uint32_t link) {
  Place& place = tree.nodes[node];
  const NodeId before = place.parent;
  const std::uint32_t deeper = tree.nodes[parent].depth + 1 - place.depth;  // modulo 2^32
  --load_[place.link];
  ++load_[link];
  place.parent = parent;
  place.link = link;
  if (deeper != 0) {
    stack_.assign(1, node);
    while (!stack_.empty()) {
      const NodeId at = stack_.back();
      stack_.pop_back();
      tree.nodes[at].depth += deeper;
      each_child(tree, at, [&](NodeId child) { stack_.push_back(child); });
    }
  }
  raise_heights(tree, before);
  raise_heights(tree, parent);
}

void Packing::rehang(Tree& tree, const Swap& swap, std::uint32_t link) {
  --load_[tree.nodes[swap.top].link];
  ++load_[link];
  NodeId node = swap.inner, parent = swap.outer;
  for (std::uint32_t by = link;;) {
    const Place before = std::exchange(tree.nodes[node], Place{parent, by});
    if (node == swap.top) break;
    parent = std::exchange(node, before.parent);
    by = before.link;
  }
  measure(tree);
}

/// Whether the subtree of `top`, hung by `inner` on `outer`, stays within the limit.
bool Packing::fits(const Tree& tree, NodeId top, NodeId inner, NodeId outer) const noexcept {
  if (tree.limit == no_limit) return true;
  std::uint32_t height = tree.nodes[inner].height, up = 0;
  for (NodeId node = inner; node != top;) {
    const NodeId child = std::exchange(node, tree.nodes[node].parent);
    height = std::max(height, ++up + height_of(tree, node, child));
  }
  return tree.nodes[outer].depth + 1 + height <= tree.limit;
}

bool Packing::swap(const Swap& swap, std::uint32_t link) {
  Tree& tree = trees_[swap.tree];
  if (tree.nodes[swap.top].link != swap.from || lower_end(tree, link) != no_node || is_below(tree, swap.outer, swap.top) ||
      !is_below(tree, swap.inner, swap.top) || !fits(tree, swap.top, swap.inner, swap.outer))
    return false;
  if (swap.inner == swap.top)
    reparent(tree, swap.top, swap.outer, link);
  else
    rehang(tree, swap, link);
  return true;
}

/// Swaps from a link with room back to an overloaded one. A tree may be on the chain twice, so that a later swap may not fit any more:
/// what has been swapped up to there stays, and does not count as a chain.
bool Packing::apply_chain(std::uint32_t link) {
  std::uint32_t source = link;
  while (came_by_[source].from != none) source = came_by_[source].from;
  if (!overloaded(source) || full(link)) return false;
  for (std::uint32_t at = link; came_by_[at].from != none; at = came_by_[at].from) {
    if (!swap(came_by_[at], at)) {
      half_applied_ += at != link ? 1 : 0;
      return false;
    }
  }
  return true;
}

/// Other parents for the lower end of a link. visit() says whether to stop.
template <class Visit>
void Packing::visit_parents(std::uint32_t link, std::uint32_t k, NodeId top, Visit&& visit) {
  const Tree& tree = trees_[k];
  for (const auto& [to, other] : graph_->around(top)) {
    if (seen_[other] || other == link || tree.nodes[to].link == other) continue;
    if (tree.nodes[to].depth + 1 + tree.nodes[top].height > tree.limit || is_below(tree, to, top)) continue;
    if (visit(other, top, to)) return;
  }
}

/// All links that leave the subtree below a link.
template <class Visit>
void Packing::visit_subtree(std::uint32_t link, std::uint32_t k, NodeId top, Visit&& visit) {
  const Tree& tree = trees_[k];
  ++stamp_;
  stack_.assign(1, top);
  mark_[top] = stamp_;
  for (std::size_t i = 0; i < stack_.size(); ++i) {
    each_child(tree, stack_[i], [&](NodeId child) {
      mark_[child] = stamp_;
      stack_.push_back(child);
    });
  }
  work_ += 4 * stack_.size();
  const std::vector<NodeId> inside = stack_;
  for (const NodeId inner : inside) {
    for (const auto& [to, other] : graph_->around(inner)) {
      if (seen_[other] || other == link || mark_[to] == stamp_ || !fits(tree, top, inner, to)) continue;
      if (visit(other, inner, to)) return;
    }
  }
}

/// One breadth-first search. Returns how many chains it has applied.
unsigned Packing::search(Moves moves) {
  unsigned applied = 0;
  came_by_.assign(graph_->links(), {});
  seen_.assign(graph_->links(), false);
  queue_.clear();
  for (std::uint32_t link = 0; link < graph_->links(); ++link) {
    if (!overloaded(link)) continue;
    seen_[link] = true;
    queue_.push_back(link);
  }
  shuffle(queue_, *random_);
  for (std::size_t i = 0; i < queue_.size(); ++i) {
    const std::uint32_t link = queue_[i], first = below_limit(count_.trees);
    for (std::uint32_t j = 0; j < count_.trees; ++j) {
      const std::uint32_t k = (first + j) % count_.trees;
      const NodeId top = lower_end(trees_[k], link);
      ++work_;
      if (top == no_node || link == trees_[k].middle) continue;
      const auto visit = [&](std::uint32_t other, NodeId inner, NodeId outer) {
        came_by_[other] = {link, k, top, inner, outer};
        seen_[other] = true;
        if (full(other)) {
          queue_.push_back(other);
          return false;
        }
        const bool done = apply_chain(other);
        applied += done ? 1 : 0;
        seen_[other] = done && full(other);
        if (seen_[other]) queue_.push_back(other);
        return true;
      };
      work_ += graph_->around(top).size();
      if (moves == Moves::parents)
        visit_parents(link, k, top, visit);
      else
        visit_subtree(link, k, top, visit);
    }
  }
  return applied;
}

/// Leaves a dead end: overloads walk to other links.
void Packing::kick(unsigned steps) {
  std::vector<std::uint32_t> over;
  for (std::uint32_t link = 0; link < graph_->links(); ++link) {
    if (overloaded(link)) over.push_back(link);
  }
  for (std::uint32_t link : over) {
    unsigned walked = 0;
    for (unsigned tries = 0; walked < steps && tries < 50 * steps && overloaded(link); ++tries) {
      Tree& tree = trees_[below_limit(count_.trees)];
      const NodeId top = lower_end(tree, link);
      if (top == no_node || link == tree.middle) continue;
      const auto [to, other] = graph_->around(top)[below_limit(graph_->around(top).size())];
      if (other == link || lower_end(tree, other) != no_node || tree.nodes[to].depth + 1 + tree.nodes[top].height > tree.limit ||
          is_below(tree, to, top))
        continue;
      reparent(tree, top, to, other);
      link = other;
      ++walked;
    }
  }
}

bool Packing::repair(std::uint64_t work, unsigned kicks) {
  const bool unlimited = trees_.front().limit == no_limit;
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  unsigned left = kicks;
  for (work_ = 0; overload() > 0;) {
    if (work_ > work) return false;
    if (search(Moves::parents) > 0) continue;
    const std::uint64_t half_applied = half_applied_;
    if (search(Moves::subtrees) > 0) continue;
    if (unlimited) {
      if (half_applied_ > half_applied) continue;  // which proves nothing
      return false;
    }
    if (overload() < least) left = kicks;
    least = std::min(least, overload());
    if (left-- == 0) return false;
    kick(1 + below_limit(8));
  }
  return true;
}

std::pair<std::uint64_t, std::uint64_t> Packing::proof(std::vector<NodeId>* partition) const {
  std::vector<NodeId> leader(ranks_);
  std::iota(leader.begin(), leader.end(), NodeId{0});
  const auto find = [&](NodeId node) {
    while (leader[node] != node) node = leader[node] = leader[leader[node]];
    return node;
  };
  for (std::uint32_t link = 0; link < graph_->links(); ++link) {
    if (!seen_[link]) leader[find(graph_->link(link).from)] = find(graph_->link(link).to);
  }
  std::uint64_t classes = 0, between = 0;
  for (const NodeId node : graph_->nodes()) classes += find(node) == node ? 1U : 0U;
  for (std::uint32_t link = 0; link < graph_->links(); ++link)
    between += find(graph_->link(link).from) != find(graph_->link(link).to) ? graph_->capacity(link) : 0U;
  if (partition != nullptr) {
    for (NodeId node = 0; node < ranks_; ++node) leader[node] = find(node);
    *partition = std::move(leader);
  }
  return {classes - 1, between};
}

void Packing::relax(std::uint32_t diameter) {
  for (Tree& tree : trees_) {
    tree.limit = diameter / 2;
    if (diameter % 2 == 0) {
      tree.middle = none;
    } else if (tree.middle == none) {
      NodeId highest = no_node;
      each_child(tree, tree.root, [&](NodeId child) {
        if (highest == no_node || tree.nodes[child].height > tree.nodes[highest].height) highest = child;
      });
      tree.middle = tree.nodes[highest].link;
    }
    measure(tree);
  }
}

std::vector<NodeId> Packing::longest_path(const Tree& tree, NodeId from) const {
  std::vector<NodeId> came(ranks_, no_node), queue{from};
  came[from] = from;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const auto& [to, link] : graph_->around(queue[i])) {
      if (came[to] != no_node || (tree.nodes[to].link != link && tree.nodes[queue[i]].link != link)) continue;
      came[to] = queue[i];
      queue.push_back(to);
    }
  }
  std::vector<NodeId> path{queue.back()};
  while (path.back() != from) path.push_back(came[path.back()]);
  return path;
}

void Packing::centre(Tree& tree) {
  const std::vector<NodeId> path = longest_path(tree, longest_path(tree, tree.root).front());
  const std::size_t length = path.size() - 1;
  const NodeId root = path[length / 2];
  std::vector<Place> turned(ranks_);
  std::vector<bool> in(ranks_);
  std::vector<NodeId> queue{root};
  in[root] = true;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const auto& [to, link] : graph_->around(queue[i])) {
      if (in[to] || (tree.nodes[to].link != link && tree.nodes[queue[i]].link != link)) continue;
      in[to] = true;
      turned[to] = {queue[i], link};
      queue.push_back(to);
    }
  }
  tree.nodes = std::move(turned);
  tree.root = root;
  tree.middle = length % 2 == 1 ? tree.nodes[path[length / 2 + 1]].link : none;
  measure(tree);
}

std::vector<SpanningTree> Packing::result() {
  std::vector<SpanningTree> result;
  result.reserve(trees_.size());
  for (Tree& tree : trees_) {
    centre(tree);
    SpanningTree& out = result.emplace_back(SpanningTree{tree.root, tree.middle, {}, order_of(tree)});
    out.link.reserve(ranks_);
    for (const Place& place : tree.nodes) out.link.push_back(place.link);
  }
  return result;
}

}  // namespace torus::spanning
