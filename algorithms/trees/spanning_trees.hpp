/// Undirected spanning trees of a machine that share its links evenly: p trees, each link in at most q of them.
///
/// A vector cut into p parts, each reduced up a tree and broadcast down again, puts at most q/p of its bytes on every channel, both ways
/// alike. By Nash-Williams and by Tutte (both 1961) the least q/p is R, the greatest over all partitions of the nodes of (classes - 1) over
/// the links between classes. On most meshes and tori single nodes are such a partition: R = (N-1) / E, E the links. With p trees alone,
/// q = ceil(p R) is enough.
///
/// Where links differ in speed, a link of capacity c (link_capacities.hpp) counts as c links: it is in at most q c trees, and all of the
/// above holds with sums of capacities for numbers of links.
#pragma once

#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include <torus/machine.hpp>
#include <torus/route.hpp>

#include "algorithms/common/link_capacities.hpp"

namespace torus {

/// The living nodes and links of a machine. Parallel links, as on rings of two nodes, are links of their own.
class LinkGraph {
 public:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  struct Link {
    NodeId from, to;
    Leg leg;  ///< of the channel from `from` to `to`
    std::uint32_t capacity = 1;
  };
  struct Neighbour {
    NodeId node;
    std::uint32_t link;
  };

  explicit LinkGraph(const Topology& topology);
  /// Links that pass nothing are left out.
  LinkGraph(const Machine& machine, const LinkCapacities& capacities);

  NodeId ranks() const noexcept { return static_cast<NodeId>(first_.size() - 1); }
  /// Living nodes, ascending.
  std::span<const NodeId> nodes() const noexcept { return nodes_; }
  std::uint32_t links() const noexcept { return static_cast<std::uint32_t>(links_.size()); }
  const Link& link(std::uint32_t l) const noexcept { return links_[l]; }
  std::uint32_t capacity(std::uint32_t l) const noexcept { return links_[l].capacity; }
  /// Sum over all links.
  std::uint64_t capacity() const noexcept;
  std::span<const Neighbour> around(NodeId node) const noexcept {
    return {neighbours_.data() + first_[node], first_[node + 1] - first_[node]};
  }
  /// Distances from the nearer of two nodes to every rank; `none` to dead nodes.
  std::vector<std::uint32_t> distances(NodeId a, NodeId b) const;

 private:
  template <class CapacityOf>
  LinkGraph(const Topology& topology, CapacityOf&& capacity_of);

  std::vector<NodeId> nodes_;
  std::vector<Link> links_;
  std::vector<std::size_t> first_;  // by rank
  std::vector<Neighbour> neighbours_;
};

/// How many trees, and in how many of them a link of capacity 1 is at most.
struct TreeCount {
  std::uint32_t trees, per_link;
  double load() const noexcept { return static_cast<double>(per_link) / trees; }
  friend bool operator==(const TreeCount&, const TreeCount&) = default;
};

/// R as `per_link` over `trees`; or a smaller ratio of some partition such that R and it have the same ceil(p R) for all p up to
/// `most_trees`. Two living nodes or more. `classes`: that partition, a number for each rank; empty for single nodes.
TreeCount least_ratio(const LinkGraph& graph, std::uint32_t most_trees, std::vector<NodeId>* classes = nullptr);
/// The count of p = `trees` trees: q = ceil(p R).
TreeCount with_trees(const TreeCount& ratio, std::uint32_t trees) noexcept;
/// Numbers of trees, ascending, each with a smaller q/p than all before it.
std::vector<TreeCount> records(const TreeCount& ratio, std::uint32_t most_trees);

/// A spanning tree. Its middle is a node or, where its longest path is odd, a link.
struct SpanningTree {
  NodeId root = 0;
  std::uint32_t middle = LinkGraph::none;  ///< the link, which joins the root to a child
  std::vector<std::uint32_t> link;         ///< to the parent, by rank; `none` at the root and at dead nodes
  std::vector<NodeId> order;               ///< the root first, parents before children

  /// The parent of a node that has one.
  NodeId parent(const LinkGraph& graph, NodeId node) const noexcept {
    const LinkGraph::Link& l = graph.link(link[node]);
    return l.from == node ? l.to : l.from;
  }
};

/// Such trees, of small diameter. `count.per_link` must be at least R times `count.trees`. Deterministic.
///
/// p spanning trees of shortest paths are grown around the middle of the machine. Links in too many trees are relieved by chains of
/// exchanges: breadth-first search over the links, from all that are overloaded; an arc leads from link e to link f if some tree has e, not
/// f, and stays a tree of the wanted height with f instead. If that fails the heights may be one larger. Without a limit on heights this is
/// matroid union, which always succeeds: Roskind & Tarjan 1985; the search over links instead of their copies, and under limits: this
/// project.
/// `spare`: by how much the diameter may be larger than it must. The middles of the trees are then dealt over more of the machine.
/// Cost     a mesh of 16x16 takes some tens of milliseconds. Memory: 16 bytes a tree and node.
std::vector<SpanningTree> pack_spanning_trees(const LinkGraph& graph, const TreeCount& count, std::uint32_t spare = 0);

}  // namespace torus
