/// Reduce, gather and scatter along the lines through the root: a baseline for every shape and number of ports.
///
/// Reduce: a node combines what its children send and gives the sum to its parent. Gather: it passes on all that it has got, as one bundle.
/// Scatter: the gather backwards; the message to a node carries the blocks of its whole subtree.
/// Machine  any, packet (single hops), any number of ports, no channel shared.
/// Steps    sum over the dimensions: a ring's floor(n/2), with one port n-1; a line's longer side, with one port and two sides of one
///          length one more; a complete dimension's ceil((n-1)/ports).
/// Bytes    reduce: as many vectors as steps. Gather and scatter: bundled blocks, about N/2 times half the first extent where sides
///          are equal.
/// Source   folklore (recursive gathering along the dimensions).

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/common/canonical_form.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/program_memory.hpp"

namespace torus::reduction::tree {
namespace {

/// The lines through the root. Towards the root, dimension by dimension, the longest first.
///
/// In the phase of a dimension the nodes that have the root's coordinates in the dimensions done take part. On a ring both ways lead to the
/// root's place, with one port one way. On a line both sides do, with one port one of them a step later. In a complete dimension every node
/// sends straight there, as many at a time as there are ports.
class LineTree {
 public:
  LineTree(const Machine& machine, NodeId root);

  /// What a node sends towards the root in a phase.
  struct TimedLeg {
    std::uint32_t step;  // of the phase
    Leg leg;
  };
  std::uint32_t phases() const noexcept { return static_cast<std::uint32_t>(lines_.size()); }
  std::uint32_t steps(std::uint32_t phase) const noexcept { return lines_[phase].steps; }
  std::uint32_t all_steps() const noexcept;
  /// Whether a node takes part in a phase: it has the root's coordinates in the dimensions of the phases before.
  bool takes_part(const Topology& topology, NodeId node, std::uint32_t phase) const noexcept;
  /// None for nodes at the root's place, which only receive in this phase.
  std::optional<TimedLeg> towards_root(const Topology& topology, NodeId node, std::uint32_t phase) const noexcept;
  /// The nodes that send to a node in a phase.
  std::vector<NodeId> children(const Topology& topology, NodeId node, std::uint32_t phase) const;
  /// The nodes whose data a node passes on in the phase in which it sends, itself among them.
  std::vector<NodeId> subtree(const Topology& topology, NodeId node, std::uint32_t phase) const;

  /// Sums over the steps: of the most nodes' data on a channel, if it is bundled; and of the most messages that reach one node.
  std::uint64_t bundled() const noexcept;
  std::uint64_t received() const noexcept;

 private:
  struct Line {
    Dimension dimension;
    std::int32_t extent, root;  // the root's place
    Wiring wiring;
    std::int32_t up = 0, down = 0;             // places from which + and - lead away from the root
    std::uint32_t up_late = 0, down_late = 0;  // 1: that side arrives a step earlier than the phase ends
    std::uint32_t at_once = 0;                 // complete: messages a step
    std::uint32_t steps = 0;
  };
  static std::int32_t offset(const Line& line, std::int32_t place) noexcept;

  std::vector<Line> lines_;  // by phase
};

LineTree::LineTree(const Machine& machine, NodeId root) {
  const Topology& topology = machine.topology;
  for (const Dimension d : canonical_dimensions(machine, root)) {
    const std::int32_t n = topology.extent(d);
    Line line{.dimension = d, .extent = n, .root = topology.coordinate(root, d), .wiring = topology.wiring(d)};
    switch (line.wiring) {
      case Wiring::ring:
        line.up = machine.ports == 1 ? n - 1 : n / 2;
        line.down = n - 1 - line.up;
        break;
      case Wiring::line:
        line.up = n - 1 - line.root;
        line.down = line.root;
        break;
      case Wiring::complete:
        line.at_once = static_cast<std::uint32_t>(machine.ports);
        line.steps = (static_cast<std::uint32_t>(n) - 1 + line.at_once - 1) / line.at_once;
        break;
    }
    if (line.wiring != Wiring::complete) {
      const bool apart = machine.ports == 1 && line.up > 0 && line.down > 0;  // the last messages of both sides in different steps
      (line.up > line.down ? line.down_late : line.up_late) = apart ? 1 : 0;
      line.steps = static_cast<std::uint32_t>(
          std::max(line.up + static_cast<std::int32_t>(line.up_late), line.down + static_cast<std::int32_t>(line.down_late)));
    }
    lines_.push_back(line);
  }
}

std::uint32_t LineTree::all_steps() const noexcept {
  std::uint32_t sum = 0;
  for (const Line& line : lines_) sum += line.steps;
  return sum;
}

/// Places from the root's, + on its side up; in a complete dimension 0 .. n-1.
std::int32_t LineTree::offset(const Line& line, std::int32_t place) noexcept {
  if (line.wiring == Wiring::line) return place - line.root;
  const std::int32_t away = modulo(place - line.root, line.extent);
  return line.wiring == Wiring::ring && away > line.up ? away - line.extent : away;
}

bool LineTree::takes_part(const Topology& topology, NodeId node, std::uint32_t phase) const noexcept {
  return std::all_of(lines_.begin(), lines_.begin() + phase,
                     [&](const Line& line) { return topology.coordinate(node, line.dimension) == line.root; });
}

std::optional<LineTree::TimedLeg> LineTree::towards_root(const Topology& topology, NodeId node, std::uint32_t phase) const noexcept {
  const Line& line = lines_[phase];
  const std::int32_t o = offset(line, topology.coordinate(node, line.dimension));
  if (o == 0) return std::nullopt;
  if (line.wiring == Wiring::complete)
    return TimedLeg{(static_cast<std::uint32_t>(o) - 1) / line.at_once, {line.dimension, line.extent - o}};
  const std::uint32_t late = o > 0 ? line.up_late : line.down_late;
  return TimedLeg{line.steps - late - static_cast<std::uint32_t>(std::abs(o)), {line.dimension, o > 0 ? -1 : +1}};
}

std::vector<NodeId> LineTree::children(const Topology& topology, NodeId node, std::uint32_t phase) const {
  const Line& line = lines_[phase];
  const std::int32_t o = offset(line, topology.coordinate(node, line.dimension));
  std::vector<NodeId> out;
  const auto add = [&](std::int32_t hops) { out.push_back(*topology.neighbour(node, line.dimension, hops)); };
  if (line.wiring == Wiring::complete) {
    for (std::int32_t away = 1; o == 0 && away < line.extent; ++away) add(away);
    return out;
  }
  if (o >= 0 && o < line.up) add(+1);
  if (o <= 0 && -o < line.down) add(-1);
  return out;
}

std::vector<NodeId> LineTree::subtree(const Topology& topology, NodeId node, std::uint32_t phase) const {
  const Line& line = lines_[phase];
  const std::int32_t place = topology.coordinate(node, line.dimension);
  const std::int32_t o = offset(line, place);
  const std::int32_t last = line.wiring == Wiring::complete ? o : o > 0 ? line.up : -line.down;
  const auto moved = [&topology](NodeId from, Dimension d, std::int32_t places) {
    return static_cast<NodeId>(std::int64_t{from} + std::int64_t{places} * topology.stride(d));
  };
  std::vector<NodeId> out;
  for (std::int32_t away = o;; away += o > 0 ? 1 : -1) {
    out.push_back(moved(node, line.dimension, modulo(line.root + away, line.extent) - place));
    if (away == last) break;
  }
  for (std::uint32_t before = 0; before < phase; ++before) {  // any place in the dimensions done, where the node is at the root's
    const Line& other = lines_[before];
    const std::size_t count = out.size();
    out.reserve(count * static_cast<std::size_t>(other.extent));
    for (std::int32_t to = 0; to < other.extent; ++to) {
      if (to == other.root) continue;
      for (std::size_t i = 0; i < count; ++i) out.push_back(moved(out[i], other.dimension, to - other.root));
    }
  }
  return out;
}

std::uint64_t LineTree::bundled() const noexcept {
  std::uint64_t sum = 0, nodes = 1;  // that a node at the root's places has collected
  for (const Line& line : lines_) {
    for (std::uint32_t step = 0; step < line.steps; ++step) {
      std::int64_t most = line.wiring == Wiring::complete ? 1 : 0;
      const auto side = [&](std::int32_t length, std::uint32_t late) {
        const std::int64_t away = std::int64_t{line.steps} - late - step;
        if (away >= 1 && away <= length) most = std::max(most, length - away + 1);
      };
      side(line.up, line.up_late);
      side(line.down, line.down_late);
      sum += static_cast<std::uint64_t>(most) * nodes;
    }
    nodes *= static_cast<std::uint64_t>(line.extent);
  }
  return sum;
}

std::uint64_t LineTree::received() const noexcept {
  std::uint64_t sum = 0;
  for (const Line& line : lines_) {
    if (line.wiring == Wiring::complete)
      sum += static_cast<std::uint64_t>(line.extent) - 1;
    else  // one a step, and in the last from both sides
      sum += line.steps + (line.up > 0 && line.down > 0 && line.up_late == 0 && line.down_late == 0 ? 1 : 0);
  }
  return sum;
}

/// Combines, or collects, and gives all away once.
Program towards_root(Node& self, const LineTree& tree, bool combines) {
  Step begin = 0;
  for (std::uint32_t phase = 0; phase < tree.phases() && tree.takes_part(self.topology(), self.rank(), phase); ++phase) {
    if (const auto up = tree.towards_root(self.topology(), self.rank(), phase)) {
      while (self.now() < begin + up->step) co_await self.step();
      if (combines)
        self.forward(combine, {up->leg}, self.blocks());
      else
        self.forward({up->leg}, self.blocks());
    }
    begin += tree.steps(phase);
  }
}

/// Sleeps until its blocks come, passes on those of its children, each in its step, and ends.
Program from_root(Node& self, const LineTree& tree, NodeId root) {
  if (self.rank() != root) co_await self.arrival();
  Step begin = 0;
  for (std::uint32_t phase = tree.phases(); phase-- > 0; begin += tree.steps(phase)) {
    if (!tree.takes_part(self.topology(), self.rank(), phase)) continue;
    std::vector<std::pair<Step, NodeId>> children;
    for (const NodeId child : tree.children(self.topology(), self.rank(), phase))
      children.emplace_back(begin + tree.steps(phase) - 1 - tree.towards_root(self.topology(), child, phase)->step, child);
    std::sort(children.begin(), children.end());
    for (const auto& [step, child] : children) {
      while (self.now() < step) co_await self.step();
      const Leg up = tree.towards_root(self.topology(), child, phase)->leg;
      self.forward({{up.dimension, self.topology().reverse(up.dimension, up.hops)}}, tree.subtree(self.topology(), child, phase));
    }
  }
}

Plan plan(const Machine& machine, const Request& request) {
  const auto tree = std::make_shared<const LineTree>(machine, request.sources.front());
  const bool reduces = request.collective == Collective::reduce;
  Plan plan;
  plan.start =
      request.collective == Collective::scatter
          ? std::function<Program(Node&)>([tree, root = request.sources.front()](Node& self) { return from_root(self, *tree, root); })
          : [tree, reduces](Node& self) { return towards_root(self, *tree, reduces); };
  plan.steps = tree->all_steps();
  plan.route_hops = plan.steps;
  plan.formula = "sum of the lines through the root";
  plan.channel_bytes = static_cast<double>(reduces ? plan.steps : tree->bundled()) * static_cast<double>(request.bytes);
  plan.combined_bytes = reduces ? static_cast<double>(tree->received()) * static_cast<double>(request.bytes) : 0;
  // Each node is told once, or sends once. Of a bundle three blocks may begin a cache line, and each travels in both of two steps.
  plan.message_bytes = bytes_of_messages(1) / 2 + (reduces ? 0 : 2 * 64 / 3 + 1);
  if (request.collective == Collective::scatter) {
    plan.table_bytes = 4 * sizeof(NodeId) * machine.topology.nodes();  // a list of a subtree, which ends with the send
    plan.node_bytes += 64;                                             // children: each node is the child of one
  }
  return plan;
}

constexpr Algorithm tree(Collective collective, const Idea& idea) {
  return {.name = "tree",
          .collective = collective,
          .source = "folklore: along the lines through the root",
          .shapes = "any",
          .steps = "sum over the dimensions: ring floor(n/2), one port n-1; line its longer side from the root; complete ceil((n-1)/ports)",
          .idea = idea,
          .native = {.switching = Switching::packet},
          .plan = plan};
}

constexpr Algorithm tree_reduce =
    tree(Collective::reduce,
         {.first = "Along the longest dimension the nodes that lie farthest from the place of the root begin: each sends its "
                   "vector to the next node, which adds its own and passes the sum on.",
          .then = "The sums of the lines then go along the other dimensions in the same way, until they are at the root.",
          .good = "Single hops, any shape and any ports do; each step carries the whole vector, so that it is a baseline, "
                  "and no bad choice for short vectors through few ports."});
constexpr Algorithm tree_gather = tree(
    Collective::gather, {.first = "Along the longest dimension the nodes that lie farthest from the place of the root send their blocks "
                                  "to the next node, which adds its own to the bundle and passes it on.",
                         .then = "The bundles then go along the other dimensions in the same way, until they are at the root.",
                         .good = "Single hops, any shape and any ports do, and start-ups are few; but the last channels before the "
                                 "root carry half of all blocks."});
constexpr Algorithm tree_scatter = tree(
    Collective::scatter,
    {.first =
         "The root sends bundles along its line in the shortest dimension: each has the blocks of all nodes that lie behind its receiver.",
     .then = "Each receiver keeps its own block and passes the others on, along this line and then along those of the longer dimensions.",
     .good = "Single hops, any shape and any ports do, and start-ups are few; but the first channels carry half of all blocks."});

}  // namespace

extern const Entries entries{tree_reduce, tree_gather, tree_scatter};

}  // namespace torus::reduction::tree
