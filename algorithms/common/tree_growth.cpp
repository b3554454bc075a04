#include "algorithms/common/tree_growth.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "algorithms/common/arc_trees.hpp"

namespace torus {
namespace {

constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

}  // namespace

TreeGrowth::TreeGrowth(const Topology& topology, NodeId root)
    : nodes_{topology.nodes()}, first_out_(nodes_ + 1), in_(nodes_), member_(nodes_), seen_(nodes_) {
  for (NodeId node = 0; node < nodes_; ++node) {
    first_out_[node] = static_cast<std::uint32_t>(arcs_.size());
    topology.each_link(node, [&](Dimension d, std::int32_t hop, NodeId to) {
      in_[to].push_back(static_cast<std::uint32_t>(arcs_.size()));
      arcs_.push_back({node, to, {d, hop}});
    });
  }
  first_out_[nodes_] = static_cast<std::uint32_t>(arcs_.size());
  free_.assign(arcs_.size(), true);
  carries_.assign(arcs_.size(), false);
  way_.resize(nodes_ + ArcTrees::most_trees);
  seen_.resize(nodes_ + ArcTrees::most_trees);
  start(root, std::min<std::uint32_t>(ArcTrees::most_trees, first_out_[root + 1] - first_out_[root]));
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

}  // namespace torus
