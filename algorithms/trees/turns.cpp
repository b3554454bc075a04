#include "algorithms/trees/turns.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "algorithms/common/integers.hpp"

namespace torus::tree_times {

Levels::Levels(const LinkGraph& graph, const SpanningTree& tree) : depth(graph.ranks()), height(graph.ranks()) {
  for (const NodeId node : tree.order) {
    if (tree.link[node] != LinkGraph::none) depth[node] = depth[tree.parent(graph, node)] + (tree.link[node] == tree.middle ? 0 : 1);
    most = std::max(most, depth[node]);
  }
  for (std::size_t i = tree.order.size(); i-- > 1;) {
    const NodeId node = tree.order[i], parent = tree.parent(graph, node);
    if (tree.link[node] != tree.middle) height[parent] = std::max(height[parent], height[node] + 1);
  }
}

bool any_middle(const std::vector<SpanningTree>& trees) {
  return std::any_of(trees.begin(), trees.end(), [](const SpanningTree& tree) { return tree.middle != LinkGraph::none; });
}

Turns::Turns(const LinkGraph& graph, const std::vector<SpanningTree>& trees, std::uint32_t per_link)
    : graph_{graph},
      period_{per_link},
      lanes_{graph.capacity() > graph.links()},
      most_work_{std::min<std::uint64_t>(12'000'000, 8000 * trees.size() * graph.nodes().size())},
      moved_(graph.ranks()) {
  std::vector<std::array<std::uint32_t, 2>> going(graph.links());  // trees, by direction
  const std::vector<std::uint32_t> zeros(graph.ranks());
  for (const SpanningTree& shape : trees) {
    Tree& tree = trees_.emplace_back(Tree{shape, zeros, zeros, zeros, zeros});
    if (lanes_) tree.shape.middle = none;
    for (const NodeId node : shape.order) {
      const std::uint32_t link = shape.link[node];
      if (link == none) continue;
      tree.parent[node] = shape.parent(graph, node);
      ++going[link][static_cast<std::size_t>(direction(node, link))];
    }
  }
  for (std::uint32_t link = 0; link < graph.links() && lanes_; ++link)
    period_ = std::max(period_, ceil_div(going[link][0], graph.capacity(link)) + ceil_div(going[link][1], graph.capacity(link)));
  std::size_t cells = 0;
  for (std::uint32_t link = 0; link < graph.links(); ++link) {
    first_cell_.push_back(cells);
    cells += std::size_t{graph.capacity(link)} * period_;
  }
  holder_.assign(cells, none);
  for (std::uint32_t k = 0; k < trees_count(); ++k) {
    std::uint32_t& middle = trees_[k].shape.middle;
    if (middle != none && holder({middle, 0}) != none) middle = none;
    if (middle != none) holder({middle, 0}) = k;
  }
  backwards_ = any_middle(this->trees()) ? 0 : 1;
  take_turns();
}

std::vector<SpanningTree> Turns::trees() const {
  std::vector<SpanningTree> shapes;
  for (const Tree& tree : trees_) shapes.push_back(tree.shape);
  return shapes;
}

bool Turns::all_go(const Cell& but, Direction direction) noexcept {
  for (std::uint32_t lane = 0; lane < graph_.capacity(but.link); ++lane) {
    const std::uint32_t k = lane == but.lane ? none : holder({but.link, but.turn, lane});
    if (k != none && this->direction(lower_end(trees_[k], but.link), but.link) != direction) return false;
  }
  return true;
}

/// The lanes of a link that trees of either direction still want, and the turns that nobody has.
class Turns::Room {
 public:
  Room(std::uint32_t lanes, std::uint32_t turns) : lanes_{lanes}, empty_{turns}, used_(turns) {}

  void want(Direction d) noexcept { ++of(d).wanting; }
  /// A middle link's turn.
  void block(std::uint32_t turn) noexcept {
    used_[turn].trees = lanes_;
    --empty_;
  }
  /// Gives a tree a lane of a turn, if that goes in its direction or can, and the others still find room then.
  std::optional<std::uint32_t> take(Direction d, std::uint32_t turn) noexcept {
    Used& used = used_[turn];
    if (used.trees == 0) {
      Side& mine = of(d);
      const Side& other = of(d == Direction::along ? Direction::against : Direction::along);
      const std::uint32_t more = mine.wanting > mine.free + lanes_ ? mine.wanting - mine.free - lanes_ : 0,
                          others = other.wanting > other.free ? other.wanting - other.free : 0;
      if (ceil_div(more, lanes_) + ceil_div(others, lanes_) + 1 > empty_) return std::nullopt;
      --empty_;
      mine.free += lanes_;
      used.direction = d;
    } else if (used.direction != d || used.trees == lanes_) {
      return std::nullopt;
    }
    --of(d).wanting;
    --of(d).free;
    return used.trees++;
  }

 private:
  struct Side {
    std::uint32_t wanting = 0, free = 0;  // trees without a turn; lanes of turns that go this way
  };
  struct Used {
    std::uint32_t trees = 0;
    Direction direction = Direction::along;
  };
  Side& of(Direction d) noexcept { return sides_[static_cast<std::size_t>(d)]; }

  std::uint32_t lanes_, empty_;
  std::array<Side, 2> sides_;
  std::vector<Used> used_;
};

/// Step by step each link takes the trees with the highest subtrees below it, in either direction, of those whose turn is free.
void Turns::take_turns() {
  std::vector<std::vector<Waiting>> at_link(graph_.links()), ready(1);
  std::vector<std::vector<std::vector<NodeId>>> children(trees_.size());
  std::vector<Levels> levels;
  std::vector<Room> room;
  for (std::uint32_t link = 0; link < graph_.links(); ++link) {
    room.emplace_back(graph_.capacity(link), period_);
    if (holder({link, 0}) != none) room.back().block(0);
  }
  std::size_t left = 0;
  for (std::uint32_t k = 0; k < trees_count(); ++k) {
    levels.emplace_back(graph_, trees_[k].shape);
    children[k].resize(graph_.ranks());
    for (const NodeId node : trees_[k].shape.order) {
      if (!trees_[k].hangs(node)) continue;
      children[k][trees_[k].parent[node]].push_back(node);
      const std::uint32_t link = trees_[k].shape.link[node];
      room[link].want(direction(node, link));
      ++left;
    }
  }
  const auto arrive = [&](std::uint32_t k, NodeId node, std::uint32_t step) {
    if (ready.size() <= step) ready.resize(std::size_t{step} + 1);
    for (const NodeId child : children[k][node]) ready[step].push_back({levels[k].height[child], k, child});
  };
  for (std::uint32_t k = 0; k < trees_count(); ++k) {
    for (const NodeId node : trees_[k].shape.order) {
      if (!trees_[k].hangs(node)) arrive(k, node, 1);
    }
  }
  for (std::uint32_t step = 1; left > 0; ++step) {
    if (step < ready.size()) {
      for (const Waiting& w : std::exchange(ready[step], {})) at_link[trees_[w.tree].shape.link[w.node]].push_back(w);
    }
    for (std::uint32_t link = 0; link < graph_.links(); ++link) {
      std::vector<Waiting>& waiting = at_link[link];
      std::stable_sort(waiting.begin(), waiting.end(), [](const Waiting& a, const Waiting& b) { return a.height > b.height; });
      std::vector<Waiting> rest;
      for (const Waiting& w : waiting) {
        Tree& tree = trees_[w.tree];
        const std::uint32_t turn = turn_at(tree, w.node, step);
        const std::optional<std::uint32_t> lane = room[link].take(direction(w.node, link), turn);
        if (!lane) {
          rest.push_back(w);
          continue;
        }
        holder({link, turn, *lane}) = w.tree;
        tree.turn[w.node] = turn;
        tree.lane[w.node] = *lane;
        tree.step[w.node] = step;
        --left;
        arrive(w.tree, w.node, step + 1);
      }
      waiting = std::move(rest);
    }
  }
}

void Turns::measure_all(Tree& tree) {
  tree.late = 0;
  for (const NodeId node : tree.shape.order) {
    tree.step[node] = tree.hangs(node) ? step_of(tree, node, tree.step[tree.parent[node]] + 1) : 0;
    tree.late += lateness(tree.step[node]);
  }
  work_ += 2 * tree.shape.order.size();
}

void Turns::measure(Tree& tree, NodeId node) {
  const std::vector<NodeId>& order = tree.shape.order;
  work_ += order.size();
  moved_[tree.shape.root] = false;
  for (const NodeId at : order) {
    if (at == tree.shape.root) continue;
    moved_[at] = false;
    if (!tree.hangs(at) || (at != node && !moved_[tree.parent[at]])) continue;
    const std::uint32_t step = step_of(tree, at, tree.step[tree.parent[at]] + 1);
    if (step == tree.step[at]) continue;
    tree.late += lateness(step) - lateness(tree.step[at]);
    tree.step[at] = step;
    moved_[at] = true;
  }
}

std::uint32_t Turns::latest() const noexcept {
  std::uint32_t latest = 0;
  for (const Tree& tree : trees_) latest = std::max(latest, *std::max_element(tree.step.begin(), tree.step.end()));
  return latest;
}

template <class Apply>
void Turns::change(std::uint32_t k, const Cell& from, const Cell& to, Apply&& apply) {
  // Of changes that make things worse by 1, 2 or 3 every other one is kept; by 4, 5 or 6 every fourth; and so on.
  const auto often = [this](std::uint64_t worse) { return below(std::uint64_t{1} << std::min<std::uint64_t>((worse + 2) / 3, 40)) == 0; };
  const std::uint32_t other = holder(to);
  mine_ = trees_[k];
  if (other != none) its_ = trees_[other];
  apply();
  const std::uint64_t was = mine_.late + (other == none ? 0 : its_.late), now = trees_[k].late + (other == none ? 0 : trees_[other].late);
  if (now > was && !often(now - was)) {
    std::swap(trees_[k], mine_);
    if (other != none) std::swap(trees_[other], its_);
    return;
  }
  holder(to) = k;
  holder(from) = other;
}

NodeId Turns::late_node(const Tree& tree) {
  NodeId late = tree.shape.root;
  std::uint32_t equals = 0;
  for (const NodeId node : tree.shape.order) {
    if (tree.step[node] > wanted_ && below(++equals) == 0) late = node;
  }
  return late;
}

void Turns::change_turns(std::uint32_t k, NodeId late) {
  const Tree& tree = trees_[k];
  NodeId node = tree.shape.root;
  std::uint32_t step = 0, waits = 0;
  for (NodeId at = late; tree.hangs(at); at = tree.parent[at]) {
    const std::uint32_t soonest = tree.step[tree.parent[at]] + 1, wait = tree.step[at] - soonest;
    waits += wait;
    if (wait == 0 || below(waits) >= wait) continue;
    node = at;
    step = soonest + below(wait);
  }
  if (waits == 0) return;
  const std::uint32_t link = tree.shape.link[node];
  const Cell from{link, tree.turn[node], tree.lane[node]}, to = some_lane(link, turn_at(tree, node, step));
  const std::uint32_t other = holder(to);
  if (to.turn == from.turn || (other != none && trees_[other].shape.middle == link)) return;
  if (!all_go(to, direction(node, link)) || (other != none && !all_go(from, direction(lower_end(trees_[other], link), link)))) return;
  const auto move = [&](Tree& moved, NodeId lower, const Cell& cell) {
    moved.turn[lower] = cell.turn;
    moved.lane[lower] = cell.lane;
    measure(moved, lower);
  };
  change(k, from, to, [&] {
    move(trees_[k], node, to);
    if (other != none) move(trees_[other], lower_end(trees_[other], link), from);
  });
}

void Turns::rehang(Tree& tree, NodeId top, NodeId inner, NodeId outer, const Cell& by) {
  NodeId node = inner, parent = outer;
  for (Cell cell = by;;) {
    const NodeId next = std::exchange(tree.parent[node], parent);
    const Cell before{std::exchange(tree.shape.link[node], cell.link), std::exchange(tree.turn[node], cell.turn),
                      std::exchange(tree.lane[node], cell.lane)};
    if (node == top) break;
    parent = std::exchange(node, next);
    cell = before;
  }
  std::vector<NodeId>& order = tree.shape.order;
  order.assign(1, tree.shape.root);
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const auto& [to, link] : graph_.around(order[i])) {
      if (tree.shape.link[to] == link && tree.parent[to] == order[i]) order.push_back(to);
    }
  }
  measure_all(tree);
}

// If a tree without link e falls apart, every other way between the ends of e has a link f between the two parts; so has the way between
// them in a tree without e. There e closes a cycle with f on it.
void Turns::change_links(std::uint32_t k, NodeId late) {
  const Tree& tree = trees_[k];
  NodeId top = late;
  std::uint32_t hops = 0;
  for (NodeId at = late; tree.hangs(at); at = tree.parent[at]) {
    if (below(++hops) == 0) top = at;
  }
  const std::uint32_t other = below(trees_.size());
  const Tree& its = trees_[other];
  const std::uint32_t link = tree.shape.link[top];
  if (hops == 0 || other == k || its.shape.link[graph_.link(link).from] == link || its.shape.link[graph_.link(link).to] == link) return;
  std::vector<bool> below_top(graph_.ranks());
  for (const NodeId node : tree.shape.order) below_top[node] = node == top || (node != tree.shape.root && below_top[tree.parent[node]]);

  const auto ways_up = [&](NodeId from) {
    std::vector<NodeId> way{from};
    while (way.back() != its.shape.root) way.push_back(its.parent[way.back()]);
    return way;
  };
  std::vector<NodeId> one = ways_up(top), two = ways_up(tree.parent[top]);
  while (!one.empty() && !two.empty() && one.back() == two.back()) {
    one.pop_back();
    two.pop_back();
  }
  NodeId crossing = its.shape.root;
  bool from_top = false;
  std::uint32_t equals = 0;
  for (const bool of_top : {true, false}) {
    for (const NodeId node : of_top ? one : two) {
      if (!its.hangs(node) || below_top[node] == below_top[its.parent[node]] || below(++equals) > 0) continue;
      crossing = node;
      from_top = of_top;
    }
  }
  if (equals == 0) return;
  const Cell from{link, tree.turn[top], tree.lane[top]}, to{its.shape.link[crossing], its.turn[crossing], its.lane[crossing]};
  const NodeId ends[]{top, tree.parent[top]};
  const NodeId above = its.parent[crossing], inner = below_top[crossing] ? crossing : above, outer = below_top[crossing] ? above : crossing;
  change(k, from, to, [&] {
    rehang(trees_[k], top, inner, outer, to);
    rehang(trees_[other], crossing, ends[from_top ? 0 : 1], ends[from_top ? 1 : 0], from);
  });
}

bool Turns::reach(std::uint32_t wanted) {
  wanted_ = wanted;
  for (Tree& tree : trees_) measure_all(tree);
  std::vector<std::uint32_t> late;
  for (;;) {
    late.clear();
    for (std::uint32_t k = 0; k < trees_count(); ++k) {
      if (trees_[k].late > 0) late.push_back(k);
    }
    if (late.empty()) return true;
    if (work_ > most_work_) return false;
    const std::uint32_t k = late[below(late.size())];
    const NodeId node = late_node(trees_[k]);
    work_ += trees_[k].shape.order.size();
    // Another link turns the direction of those between it and the old one, which the other trees of a turn would not.
    if (lanes_ || below(2) == 0)
      change_turns(k, node);
    else
      change_links(k, node);
  }
}

void Turns::shorten() {
  std::uint32_t lowest = 0;
  for (const Tree& tree : trees_) lowest = std::max(lowest, Levels(graph_, tree.shape).most);
  std::vector<Tree> best = trees_;
  for (std::uint32_t least = latest(); least > lowest && reach(least - 1); least = latest()) best = trees_;
  trees_ = std::move(best);
}

std::vector<Times> Turns::times() const {
  const std::uint32_t meet = latest();
  std::vector<Times> times;
  for (const Tree& tree : trees_) {
    Times& t = times.emplace_back(Times{tree.step, tree.step});
    for (std::uint32_t& step : t.up) step = meet - step;
    for (std::uint32_t& step : t.down) step = meet + step - backwards_;
  }
  return times;
}

}  // namespace torus::tree_times
