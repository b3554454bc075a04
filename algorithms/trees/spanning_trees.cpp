#include "algorithms/trees/spanning_trees.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include <torus/error.hpp>

#include "algorithms/common/integers.hpp"
#include "algorithms/trees/tree_exchanges.hpp"

namespace torus {
namespace spanning {
namespace {

/// A node or a link around which trees of a diameter can stand.
struct Middle {
  NodeId a, b;
  std::uint32_t link;
  std::uint32_t spare;  // levels between its eccentricity and the limit
};

std::uint32_t eccentricity(const LinkGraph& graph, NodeId a, NodeId b) {
  std::uint32_t most = 0;
  const std::vector<std::uint32_t> distances = graph.distances(a, b);
  for (const NodeId node : graph.nodes()) most = std::max(most, distances[node]);
  return most;
}

/// The packing of the smallest diameter that a bounded search finds.
class DiameterSearch {
 public:
  DiameterSearch(const LinkGraph& graph, const TreeCount& count, std::uint32_t spare)
      : graph_{graph},
        count_{count},
        spare_{spare},
        enough_work_{std::min<std::uint64_t>(3'000'000, std::uint64_t{2000} * count.trees * graph.nodes().size())} {
    for (const NodeId node : graph.nodes()) of_node_.push_back(eccentricity(graph, node, node));
    for (std::uint32_t link = 0; link < graph.links(); ++link)
      of_link_.push_back(eccentricity(graph, graph.link(link).from, graph.link(link).to));
  }

  std::vector<SpanningTree> find() {
    const std::uint32_t least =
        std::min(2 * *std::min_element(of_node_.begin(), of_node_.end()), 2 * *std::min_element(of_link_.begin(), of_link_.end()) + 1);
    std::uint32_t diameter = std::min(least + spare_, std::max<std::uint32_t>(least, static_cast<std::uint32_t>(graph_.nodes().size())));
    for (;; ++diameter) {
      TORUS_ASSERT(diameter < 2 * graph_.ranks());
      if (nearest_) {
        nearest_->relax(diameter);
        if (nearest_->repair(most_work, kicks)) return nearest_->result();
      }
      std::uint64_t work = 0;
      for (unsigned attempt = 0; attempt < least_attempts || work < enough_work_; ++attempt) {
        Packing packing = grown(middles(diameter, spare_ == 0 && attempt % 2 == 0), diameter);
        if (packing.repair(most_work, kicks)) return packing.result();
        work += packing.work() + graph_.links() * std::uint64_t{count_.trees};
        if (!nearest_ || packing.overload() < nearest_->overload()) nearest_ = std::move(packing);
      }
    }
  }

 private:
  static constexpr std::uint64_t most_work = 20'000'000;
  static constexpr unsigned kicks = 10, least_attempts = 2;

  /// In random order; only those with most levels to spare, or all.
  std::vector<Middle> middles(std::uint32_t diameter, bool central) {
    std::vector<Middle> all;
    for (std::size_t i = 0; i < of_node_.size(); ++i) {
      if (of_node_[i] <= diameter / 2) all.push_back({graph_.nodes()[i], no_node, none, diameter / 2 - of_node_[i]});
    }
    for (std::uint32_t link = 0; link < graph_.links(); ++link) {
      if (2 * of_link_[link] + 1 <= diameter)
        all.push_back({graph_.link(link).from, graph_.link(link).to, link, (diameter - 1) / 2 - of_link_[link]});
    }
    shuffle(all, random_);
    if (!central) return all;
    std::uint32_t most = 0;
    for (const Middle& middle : all) most = std::max(most, middle.spare);
    all.erase(std::remove_if(all.begin(), all.end(), [&](const Middle& middle) { return middle.spare < most; }), all.end());
    return all;
  }

  Packing grown(const std::vector<Middle>& middles, std::uint32_t diameter) {
    Packing packing(graph_, count_, random_);
    for (std::uint32_t k = 0; k < count_.trees; ++k) {
      const Middle& middle = middles[k % middles.size()];
      packing.limit(k, middle.b == no_node ? diameter / 2 : (diameter - 1) / 2);
      packing.grow(k, middle.a, middle.b, middle.link, graph_.distances(middle.a, middle.b == no_node ? middle.a : middle.b));
    }
    return packing;
  }

  const LinkGraph& graph_;
  TreeCount count_;
  std::uint32_t spare_;
  std::uint64_t enough_work_;  // of attempts at a diameter
  std::mt19937_64 random_{1};
  std::vector<std::uint32_t> of_node_, of_link_;  // eccentricities
  std::optional<Packing> nearest_;
};

}  // namespace
}  // namespace spanning

LinkGraph::LinkGraph(const Topology& topology) : LinkGraph(topology, [](NodeId, Dimension, std::int32_t) { return 1U; }) {}

LinkGraph::LinkGraph(const Machine& machine, const LinkCapacities& capacities)
    : LinkGraph(machine.topology, [&](NodeId node, Dimension d, std::int32_t hop) { return capacities.of(node, d, hop); }) {}

template <class CapacityOf>
LinkGraph::LinkGraph(const Topology& topology, CapacityOf&& capacity_of) : first_(std::size_t{topology.nodes()} + 1) {
  std::vector<std::vector<Neighbour>> around(topology.nodes());
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    if (!topology.living(node)) continue;
    nodes_.push_back(node);
    topology.each_link(node, [&](Dimension d, std::int32_t hop, NodeId to) {
      if (topology.wiring(d) == Wiring::complete ? to < node : hop < 0) return;  // from its other end
      const std::uint32_t capacity = capacity_of(node, d, hop);
      if (capacity == 0) return;
      around[node].push_back({to, links()});
      around[to].push_back({node, links()});
      links_.push_back({node, to, {d, hop}, capacity});
    });
  }
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    neighbours_.insert(neighbours_.end(), around[node].begin(), around[node].end());
    first_[node + 1] = neighbours_.size();
  }
}

std::uint64_t LinkGraph::capacity() const noexcept {
  std::uint64_t sum = 0;
  for (const Link& link : links_) sum += link.capacity;
  return sum;
}

std::vector<std::uint32_t> LinkGraph::distances(NodeId a, NodeId b) const {
  std::vector<std::uint32_t> distance(ranks(), none);
  std::vector<NodeId> queue{a};
  if (b != a) queue.push_back(b);
  distance[a] = distance[b] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const auto& [to, link] : around(queue[i])) {
      if (distance[to] != none) continue;
      distance[to] = distance[queue[i]] + 1;
      queue.push_back(to);
    }
  }
  return distance;
}

TreeCount with_trees(const TreeCount& ratio, std::uint32_t trees) noexcept {
  return {trees, static_cast<std::uint32_t>(ceil_div(std::uint64_t{trees} * ratio.per_link, std::uint64_t{ratio.trees}))};
}

std::vector<TreeCount> records(const TreeCount& ratio, std::uint32_t most_trees) {
  std::vector<TreeCount> records;
  for (std::uint32_t trees = 1; trees <= most_trees; ++trees) {
    const TreeCount count = with_trees(ratio, trees);
    if (records.empty() || count.load() < records.back().load()) records.push_back(count);
  }
  return records;
}

// Between the ratio of a partition and q/p, the last record, there is no fraction with a denominator up to `most_trees`. So if p trees can
// be packed, R is between the two and has the same ceil(p R).
TreeCount least_ratio(const LinkGraph& graph, std::uint32_t most_trees, std::vector<NodeId>* partition) {
  std::uint64_t classes = graph.nodes().size() - 1, between = graph.capacity();
  if (partition != nullptr) partition->clear();
  for (const NodeId node : graph.nodes()) {
    std::uint64_t own = 0;
    for (const auto& [to, link] : graph.around(node)) own += graph.capacity(link);
    if (between <= classes * own) continue;
    std::tie(classes, between) = std::pair(1, own);
    if (partition == nullptr) continue;
    partition->assign(graph.ranks(), node == 0 ? 1 : 0);
    (*partition)[node] = node;
  }
  std::mt19937_64 random{1};
  for (;;) {
    const std::uint64_t common = std::gcd(classes, between);
    const TreeCount ratio{static_cast<std::uint32_t>(between / common), static_cast<std::uint32_t>(classes / common)};
    const TreeCount count = records(ratio, most_trees).back();
    spanning::Packing packing(graph, count, random);
    for (std::uint32_t k = 0; k < count.trees; ++k) packing.grow_freely(k, graph.nodes()[random() % graph.nodes().size()]);
    if (packing.repair(std::numeric_limits<std::uint64_t>::max(), 0)) return ratio;
    std::tie(classes, between) = packing.proof(partition);
    TORUS_ASSERT(classes * ratio.trees > between * ratio.per_link);
  }
}

std::vector<SpanningTree> pack_spanning_trees(const LinkGraph& graph, const TreeCount& count, std::uint32_t spare) {
  return spanning::DiameterSearch(graph, count, spare).find();
}

}  // namespace torus
