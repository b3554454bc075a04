/// The maximum number of arc-disjoint spanning trees from a root, found by search: any topology, with holes or without.
///
/// Edmonds (1973): there are k arc-disjoint spanning trees from a root exactly if k units flow from it to every node, an arc carrying one.
/// The same holds for trees that have begun to grow: if tree i has the nodes R_i, all can be completed with the free arcs exactly if, for
/// every node v, k units flow to v from k sources, of which source i feeds one unit into some node of R_i (Lovasz 1976 has the proof by
/// growing). So an arc may be added to a tree if that flow to its head remains. The trees take an arc each in turn, level by level, so that
/// none gets higher than it must. An arc that a tree must not take now, it must not take later either: each is tried once.
/// Where channels differ in speed, an arc of capacity c (link_capacities.hpp) is c arcs side by side.
/// Cost     at most k A flows, A the channels, each of at most k searches of the free arcs; most searches end after a few nodes.
/// Source   J. Edmonds, Edge-disjoint branchings; L. Lovasz, On two minimax theorems in graph. The growth in turns: this project.

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/common/canonical_form.hpp"
#include "algorithms/common/link_capacities.hpp"
#include "algorithms/common/shapes.hpp"
#include "algorithms/trees/arc_trees.hpp"

namespace torus {
namespace packing {
namespace {

constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t most_arcs = 8192;  // of a packing with copies
constexpr NodeId most_nodes = 1024;
constexpr std::uint64_t most_channels = 8192;

/// The trees while they grow, and the flows that tell whether they can be completed.
class TreeGrowth {
 public:
  struct Arc {
    NodeId from, to;
    Leg leg;
    std::uint32_t copy;  ///< of its channel
  };

  /// As many trees as the minimum cut between the root and a living node has arcs. Each holds the root alone.
  TreeGrowth(const Topology& topology, const LinkCapacities& capacities, NodeId root);

  std::uint32_t trees() const noexcept { return trees_; }
  /// The arcs out of a node are numbered from here to the first of the next node.
  std::uint32_t first_out(NodeId node) const noexcept { return first_out_[node]; }
  const Arc& arc(std::uint32_t a) const noexcept { return arcs_[a]; }

  /// Adds an arc from a node of a tree to it, if its head is not in the tree yet and all trees can still be completed.
  bool add(std::uint32_t a, std::uint32_t tree);

 private:
  /// Where a unit goes from a node or a source on its way to the target: over an arc or, if it is none, to a source or from it.
  struct Way {
    std::uint32_t next, arc;
  };

  void start(NodeId root, std::uint32_t trees);
  /// Units that flow to a node from the sources, at most `wanted`.
  std::uint32_t flow_to(NodeId target, std::uint32_t wanted);
  /// Searches backwards from the target for a source that feeds nothing, and sends a unit.
  bool one_more(NodeId target);
  void visit(std::uint32_t place, Way way);
  /// The places from which a unit can come to a node.
  void visit_before(NodeId at);
  void send(std::uint32_t from, NodeId target);

  NodeId nodes_;
  std::uint32_t trees_ = 0;
  std::vector<Arc> arcs_;                 // by their tails
  std::vector<std::uint32_t> first_out_;  // by node
  std::vector<std::vector<std::uint32_t>> in_;
  std::vector<bool> free_;
  std::vector<std::uint64_t> member_;  // trees that have the node, a bit each
  // What one flow keeps:
  std::vector<bool> carries_;
  std::vector<std::uint32_t> carrying_;  // arcs that do or did
  std::vector<std::uint32_t> feeds_;     // by source: the node
  // What one search keeps. Places are nodes, then sources.
  std::uint32_t search_ = 0;
  std::vector<std::uint32_t> seen_, queue_;
  std::vector<Way> way_;
};

TreeGrowth::TreeGrowth(const Topology& topology, const LinkCapacities& capacities, NodeId root)
    : nodes_{topology.nodes()}, first_out_(nodes_ + 1), in_(nodes_), member_(nodes_), seen_(nodes_) {
  for (NodeId node = 0; node < nodes_; ++node) {
    first_out_[node] = static_cast<std::uint32_t>(arcs_.size());
    topology.each_link(node, [&](Dimension d, std::int32_t hop, NodeId to) {
      for (std::uint32_t copy = 0; copy < capacities.of(node, d, hop); ++copy) {
        in_[to].push_back(static_cast<std::uint32_t>(arcs_.size()));
        arcs_.push_back({node, to, {d, hop}, copy});
      }
    });
  }
  first_out_[nodes_] = static_cast<std::uint32_t>(arcs_.size());
  free_.assign(arcs_.size(), true);
  carries_.assign(arcs_.size(), false);
  way_.resize(nodes_ + ArcTrees::max_trees);
  seen_.resize(nodes_ + ArcTrees::max_trees);
  start(root, std::min<std::uint32_t>(ArcTrees::max_trees, first_out_[root + 1] - first_out_[root]));
  std::uint32_t least = trees_;
  for (NodeId node = 0; node < nodes_; ++node) {
    if (node != root && topology.living(node)) least = std::min(least, flow_to(node, least));
  }
  start(root, least);
}

bool TreeGrowth::add(std::uint32_t a, std::uint32_t tree) {
  const NodeId to = arcs_[a].to;
  const std::uint64_t bit = std::uint64_t{1} << tree;
  if (!free_[a] || (member_[to] & bit) != 0) return false;
  free_[a] = false;
  member_[to] |= bit;
  if (flow_to(to, trees_) == trees_) return true;
  free_[a] = true;
  member_[to] &= ~bit;
  return false;
}

void TreeGrowth::start(NodeId root, std::uint32_t trees) {
  trees_ = trees;
  member_[root] = trees == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << trees) - 1;
}

std::uint32_t TreeGrowth::flow_to(NodeId target, std::uint32_t wanted) {
  feeds_.assign(trees_, none);
  std::uint32_t units = 0;
  for (std::uint64_t rest = member_[target]; rest != 0; rest &= rest - 1, ++units)
    feeds_[static_cast<std::size_t>(std::countr_zero(rest))] = target;
  while (units < wanted && one_more(target)) ++units;
  for (const std::uint32_t a : carrying_) carries_[a] = false;
  carrying_.clear();
  return std::min(units, wanted);
}

bool TreeGrowth::one_more(NodeId target) {
  ++search_;
  queue_.assign(1, target);
  seen_[target] = search_;
  for (std::size_t i = 0; i < queue_.size(); ++i) {
    const std::uint32_t at = queue_[i];
    if (at < nodes_) {
      visit_before(at);
    } else if (feeds_[at - nodes_] == none) {
      send(at, target);
      return true;
    } else {
      visit(feeds_[at - nodes_], {at, none});
    }
  }
  return false;
}

void TreeGrowth::visit(std::uint32_t place, Way way) {
  if (seen_[place] == search_) return;
  seen_[place] = search_;
  way_[place] = way;
  queue_.push_back(place);
}

void TreeGrowth::visit_before(NodeId at) {
  for (std::uint64_t rest = member_[at]; rest != 0; rest &= rest - 1) {
    const auto tree = static_cast<std::uint32_t>(std::countr_zero(rest));
    if (feeds_[tree] != at) visit(nodes_ + tree, {at, none});
  }
  for (const std::uint32_t a : in_[at]) {
    if (free_[a] && !carries_[a]) visit(arcs_[a].from, {at, a});
  }
  for (std::uint32_t a = first_out_[at]; a < first_out_[at + 1]; ++a) {
    if (carries_[a]) visit(arcs_[a].to, {at, a});  // takes back what the arc carries
  }
}

void TreeGrowth::send(std::uint32_t from, NodeId target) {
  for (std::uint32_t at = from; at != target; at = way_[at].next) {
    if (at >= nodes_) {
      feeds_[at - nodes_] = way_[at].next;
    } else if (const std::uint32_t a = way_[at].arc; a != none) {
      carries_[a] = !carries_[a];
      carrying_.push_back(a);
    }
  }
}

/// Where a tree stands: its nodes in the order in which they came, the next that may have children, and its next arc.
struct Front {
  std::vector<NodeId> nodes;
  std::size_t next = 0, level_end = 1;
  std::uint32_t tried = 0;
};

ArcTrees search(const Machine& machine, NodeId root, std::uint32_t most) {
  const Topology& topology = machine.topology;
  const CanonicalForm form(machine, root);
  TreeGrowth growth(form.machine().topology, LinkCapacities(form.machine(), most), form.inside(root));
  const auto slots = static_cast<std::size_t>(topology.channel_slots());
  std::vector<std::uint8_t> tree_of_channel(topology.nodes() * slots * most, ArcTrees::no_tree);
  std::vector<Front> fronts(growth.trees(), Front{{form.inside(root)}});
  /// The next arc that the tree may have on this level.
  const auto add_one = [&](std::uint32_t r) {
    Front& front = fronts[r];
    for (; front.next < front.level_end; ++front.next, front.tried = 0) {
      const NodeId from = front.nodes[front.next];
      const std::uint32_t first = growth.first_out(from), count = growth.first_out(from + 1) - first;
      while (front.tried < count) {
        const std::uint32_t a = first + (r + front.tried++) % count;  // each tree first into another direction
        if (!growth.add(a, r)) continue;
        const TreeGrowth::Arc& arc = growth.arc(a);
        const auto [dimension, hops] = form.outside(arc.leg);
        const auto slot = static_cast<std::size_t>(topology.slot(dimension, hops));
        tree_of_channel[(form.outside(from) * slots + slot) * most + arc.copy] = static_cast<std::uint8_t>(r);
        front.nodes.push_back(arc.to);
        return true;
      }
    }
    return false;
  };
  for (bool grown = true; grown;) {
    for (bool more = true; more;) {
      more = false;
      for (std::uint32_t r = 0; r < growth.trees(); ++r) more = add_one(r) || more;
    }
    grown = false;
    for (Front& front : fronts) {
      grown = grown || front.level_end < front.nodes.size();
      front.level_end = front.nodes.size();
    }
  }
  return ArcTrees(topology, ArcTrees::Roots::one, root, growth.trees(), std::move(tree_of_channel), most);
}

}  // namespace
}  // namespace packing

std::shared_ptr<const ArcTrees> packed_trees(const Machine& machine, NodeId root, std::uint32_t most, PlanCache& cache) {
  return cache.of<packing::search>(machine, root, most);
}

std::vector<std::uint32_t> packings_to_try(const Machine& machine) {
  constexpr double worth_it = 1.01;
  const Topology& topology = machine.topology;
  std::uint32_t best = 1;
  double fastest = 0;  // bytes a second into the slowest node
  for (const std::uint32_t most : capacities_to_try(machine)) {
    const LinkCapacities capacities(machine, most);
    std::uint64_t least = ArcTrees::max_trees + 1, arcs = 0;
    for (NodeId node = 0; node < topology.nodes(); ++node) {
      if (!topology.living(node)) continue;
      const std::uint64_t around = capacities.around(node);
      least = std::min(least, around);
      arcs += around;
    }
    const double rate = static_cast<double>(least) / capacities.step_byte_s();
    if (most > 1 && (least > ArcTrees::max_trees || arcs > packing::most_arcs || !(rate > worth_it * fastest))) continue;
    best = most;
    fastest = rate;
  }
  return best == 1 ? std::vector<std::uint32_t>{1} : std::vector<std::uint32_t>{1, best};
}

std::uint32_t most_packed_trees(const Machine& machine) noexcept {
  return machine.cost.one_speed() ? std::min(ArcTrees::max_trees, static_cast<std::uint32_t>(machine.topology.max_ports()))
                                  : ArcTrees::max_trees;
}

// An arc is in the list, in a list of heads, and in three small tables. A copy of a channel slot takes a byte of the result.
Bytes packing_bytes(const Machine& machine) {
  constexpr Bytes of_an_arc = sizeof(packing::TreeGrowth::Arc) + 2 * sizeof(std::uint32_t) + 2, of_a_node = 128;
  const Topology& topology = machine.topology;
  const Bytes most = capacities_to_try(machine).back();
  const auto channels = Bytes{topology.nodes()} * static_cast<Bytes>(topology.max_ports());
  return std::min(channels * most, std::max(channels, packing::most_arcs)) * of_an_arc +
         topology.nodes() * (of_a_node + static_cast<Bytes>(topology.channel_slots()) * most);
}

bool small_enough_to_pack(const Topology& topology) noexcept {
  return topology.nodes() <= packing::most_nodes &&
         std::uint64_t{topology.nodes()} * static_cast<std::uint64_t>(topology.max_ports()) <= packing::most_channels;
}

std::optional<Refusal> too_large_to_pack(std::string_view algorithm, const Topology& topology) {
  if (small_enough_to_pack(topology)) return std::nullopt;
  return Refusal{Refusal::About::shape, topology.text(),
                 std::string(algorithm) + " searches machines of up to " + std::to_string(packing::most_nodes) + " nodes and " +
                     std::to_string(packing::most_channels) + " channels",
                 smaller(topology, small_enough_to_pack).text()};
}

}  // namespace torus
