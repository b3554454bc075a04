#include "algorithms/trees/tree_times.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <random>
#include <tuple>
#include <utility>

namespace torus {
namespace tree_times {
namespace {

constexpr std::uint32_t none = LinkGraph::none;

/// By rank: when the link to the parent carries the first segment up and down. A middle link carries it both ways at the same time.
struct Times {
  std::vector<std::uint32_t> up, down;
};

/// The sends of all trees, those of one channel, step and manner as one.
Schedule schedule_of(const Topology& topology, const LinkGraph& graph, const std::vector<SpanningTree>& trees,
                     const std::vector<Times>& times) {
  struct Sent {
    NodeId to;
    Leg leg;
    Manner manner;
    std::vector<BlockId> parts;
  };
  std::map<std::tuple<NodeId, std::uint32_t, std::int32_t>, Sent> sent;  // from, step, slot
  const auto add = [&](std::uint32_t step, NodeId from, NodeId to, std::uint32_t link, Manner manner, std::uint32_t part) {
    const LinkGraph::Link& l = graph.link(link);
    const Leg leg = l.from == from ? l.leg : Leg{l.leg.dimension, topology.reverse(l.leg.dimension, l.leg.hops)};
    Sent& s = sent[{from, step, topology.slot(leg.dimension, leg.hops)}];
    s.to = to;
    s.leg = leg;
    s.manner = manner;
    s.parts.push_back(part);
  };
  for (std::uint32_t k = 0; k < trees.size(); ++k) {
    for (const NodeId node : trees[k].order) {
      const std::uint32_t link = trees[k].link[node];
      if (link == none) continue;
      const NodeId parent = trees[k].parent(graph, node);
      const bool middle = link == trees[k].middle;
      add(times[k].up[node], node, parent, link, middle ? Manner::share : Manner::combine, k);
      add(times[k].down[node], parent, node, link, middle ? Manner::share : Manner::copy, k);
    }
  }
  Schedule schedule(topology.nodes());
  for (const auto& [key, s] : sent) schedule.add(std::get<1>(key), std::get<0>(key), s.to, std::array{s.leg}, s.parts, s.manner);
  schedule.sort();
  return schedule;
}

/// Depths from the middle of a tree, the root's and that of the other end of a middle link 0; heights of the subtrees.
struct Levels {
  Levels(const LinkGraph& graph, const SpanningTree& tree) : depth(graph.ranks()), height(graph.ranks()) {
    for (const NodeId node : tree.order) {
      if (tree.link[node] != none) depth[node] = depth[tree.parent(graph, node)] + (tree.link[node] == tree.middle ? 0 : 1);
      most = std::max(most, depth[node]);
    }
    for (std::size_t i = tree.order.size(); i-- > 1;) {
      const NodeId node = tree.order[i], parent = tree.parent(graph, node);
      if (tree.link[node] != tree.middle) height[parent] = std::max(height[parent], height[node] + 1);
    }
  }
  std::vector<std::uint32_t> depth, height;
  std::uint32_t most = 0;
};

bool any_middle(const std::vector<SpanningTree>& trees) {
  return std::any_of(trees.begin(), trees.end(), [](const SpanningTree& tree) { return tree.middle != none; });
}

/// Turns of the trees on their links, in periods of q steps.
///
/// Up is down backwards: what goes down s steps after the trees meet goes up s steps before it. A channel that carries tree i down s steps
/// after that, and tree j up t steps before, is free of collisions if s + t is no multiple of q. So a link has q *turns*: a tree that goes
/// down by it after s steps takes turn s modulo q in one direction, -s modulo q in the other; two trees never take the same. Middle links
/// take turn 0. Where no tree has a middle link the way down begins a step earlier, and -s becomes 1 - s.
class Turns {
 public:
  Turns(const LinkGraph& graph, const std::vector<SpanningTree>& trees, std::uint32_t period);

  /// Fewer steps, as far as a bounded search finds.
  void shorten();
  /// As many trees as were given, no link in more of them. Of those with the same middle link all but one are rooted at an end of it.
  std::vector<SpanningTree> trees() const;
  std::vector<Times> times() const;

 private:
  struct Tree {
    SpanningTree shape;
    std::vector<NodeId> parent;       // by rank
    std::vector<std::uint32_t> turn;  // of the link to the parent
    std::vector<std::uint32_t> step;  // after how many steps that link carries the tree's part down
    std::uint64_t late = 0;           // sum over the nodes of the square of how many steps after the wanted one they have it

    /// Nodes that hang on their parent by a link that is not the middle.
    bool hangs(NodeId node) const noexcept { return shape.link[node] != none && shape.link[node] != shape.middle; }
  };
  struct Waiting {
    std::uint32_t height, tree;
    NodeId node;
  };
  /// A turn of a link.
  struct Cell {
    std::uint32_t link, turn;
  };

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
  std::uint32_t& holder(const Cell& cell) noexcept { return holder_[std::size_t{cell.link} * period_ + cell.turn]; }
  /// The lower end of a link in a tree that has it.
  NodeId lower_end(const Tree& tree, std::uint32_t link) const noexcept {
    return tree.shape.link[graph_.link(link).to] == link ? graph_.link(link).to : graph_.link(link).from;
  }
  void take_turns();
  std::uint64_t lateness(std::uint32_t step) const noexcept {
    return step > wanted_ ? std::uint64_t{step - wanted_} * (step - wanted_) : 0;
  }
  void measure_all(Tree& tree);
  /// The steps below a node whose turn has changed.
  void measure(Tree& tree, NodeId node);
  std::uint32_t latest() const noexcept;
  /// Looks for turns with which no node gets its part more than so many steps after the trees meet.
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
  std::uint32_t backwards_ = 0;  // 1 where no tree has a middle link
  std::mt19937_64 random_{1};
  std::vector<Tree> trees_;
  std::vector<std::uint32_t> holder_;  // by cell
  // Of the search.
  std::uint32_t wanted_ = 0;
  std::uint64_t work_ = 0, most_work_;  // nodes looked at
  Tree mine_, its_;                     // before a change
  std::vector<bool> moved_;
};

Turns::Turns(const LinkGraph& graph, const std::vector<SpanningTree>& trees, std::uint32_t period)
    : graph_{graph},
      period_{period},
      holder_(std::size_t{graph.links()} * period, none),
      most_work_{std::min<std::uint64_t>(12'000'000, 8000 * trees.size() * graph.nodes().size())},
      moved_(graph.ranks()) {
  for (std::uint32_t k = 0; k < trees.size(); ++k) {
    Tree& tree = trees_.emplace_back(Tree{trees[k], std::vector<NodeId>(graph.ranks()), std::vector<std::uint32_t>(graph.ranks()),
                                          std::vector<std::uint32_t>(graph.ranks())});
    for (const NodeId node : tree.shape.order) {
      if (tree.shape.link[node] != none) tree.parent[node] = tree.shape.parent(graph, node);
    }
    std::uint32_t& middle = tree.shape.middle;
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

/// Step by step each link takes the tree with the highest subtree below it, in either direction, of those whose turn is free.
void Turns::take_turns() {
  std::vector<std::vector<Waiting>> at_link(graph_.links()), ready(1);
  std::vector<std::vector<std::vector<NodeId>>> children(trees_.size());
  std::vector<Levels> levels;
  std::size_t left = 0;
  for (std::uint32_t k = 0; k < trees_count(); ++k) {
    levels.emplace_back(graph_, trees_[k].shape);
    children[k].resize(graph_.ranks());
    for (const NodeId node : trees_[k].shape.order) {
      if (!trees_[k].hangs(node)) continue;
      children[k][trees_[k].parent[node]].push_back(node);
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
        const Cell cell{link, turn_at(tree, w.node, step)};
        if (holder(cell) != none) {
          rest.push_back(w);
          continue;
        }
        holder(cell) = w.tree;
        tree.turn[w.node] = cell.turn;
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
  constexpr std::uint64_t worse = 3;
  constexpr std::uint32_t seldom = 24;  // changes that make things a little worse are kept at times
  const std::uint32_t other = holder(to);
  mine_ = trees_[k];
  if (other != none) its_ = trees_[other];
  apply();
  const std::uint64_t was = mine_.late + (other == none ? 0 : its_.late), now = trees_[k].late + (other == none ? 0 : trees_[other].late);
  if (now > was && (now > was + worse || below(seldom) > 0)) {
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
  const Cell from{link, tree.turn[node]}, to{link, turn_at(tree, node, step)};
  const std::uint32_t other = holder(to);
  if (to.turn == from.turn || (other != none && trees_[other].shape.middle == link)) return;
  change(k, from, to, [&] {
    trees_[k].turn[node] = to.turn;
    measure(trees_[k], node);
    if (other == none) return;
    const NodeId lower = lower_end(trees_[other], link);
    trees_[other].turn[lower] = from.turn;
    measure(trees_[other], lower);
  });
}

void Turns::rehang(Tree& tree, NodeId top, NodeId inner, NodeId outer, const Cell& by) {
  NodeId node = inner, parent = outer;
  for (Cell cell = by;;) {
    const NodeId next = std::exchange(tree.parent[node], parent);
    const Cell before{std::exchange(tree.shape.link[node], cell.link), std::exchange(tree.turn[node], cell.turn)};
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
  const Cell from{link, tree.turn[top]}, to{its.shape.link[crossing], its.turn[crossing]};
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
    if (below(2) == 0)
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

}  // namespace
}  // namespace tree_times

Schedule trees_at_once(const Topology& topology, const LinkGraph& graph, const std::vector<SpanningTree>& trees) {
  using tree_times::Levels;
  using tree_times::Times;
  std::vector<Levels> levels;
  std::uint32_t meet = 0;
  for (const SpanningTree& tree : trees) meet = std::max(meet, levels.emplace_back(graph, tree).most);
  const std::uint32_t first_down = meet + (tree_times::any_middle(trees) ? 1 : 0);
  enum class Form : std::uint8_t { near_middle, far, as_far_as_its_tree };  // from the step in which the trees meet
  constexpr std::array forms{Form::near_middle, Form::far, Form::as_far_as_its_tree};
  std::optional<Schedule> best;
  ByteSum least = 0;
  for (const Form up : forms) {
    for (const Form down : forms) {
      std::vector<Times> times;
      for (std::uint32_t k = 0; k < trees.size(); ++k) {
        const Levels& level = levels[k];
        Times& t = times.emplace_back(Times{level.depth, level.depth});
        for (const NodeId node : trees[k].order) {
          if (trees[k].link[node] == LinkGraph::none) continue;
          if (trees[k].link[node] == trees[k].middle) {
            t.up[node] = t.down[node] = meet;
            continue;
          }
          const auto from_end = [&](Form form) { return level.height[node] + (form == Form::far ? 0 : meet - level.most); };
          t.up[node] = up == Form::near_middle ? meet - level.depth[node] : from_end(up);
          t.down[node] = first_down + (down == Form::near_middle ? level.depth[node] : meet - from_end(down)) - 1;
        }
      }
      Schedule schedule = tree_times::schedule_of(topology, graph, trees, times);
      const ByteSum channel = schedule.loads(topology, [](BlockId) { return 1; }).channel;
      if (best && channel >= least) continue;
      least = channel;
      best = std::move(schedule);
    }
  }
  return *std::move(best);
}

Schedule trees_in_turns(const Topology& topology, const LinkGraph& graph, const std::vector<SpanningTree>& trees, std::uint32_t period) {
  tree_times::Turns turns(graph, trees, period);
  turns.shorten();
  return tree_times::schedule_of(topology, graph, turns.trees(), turns.times());
}

}  // namespace torus
