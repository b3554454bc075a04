#include "algorithms/lines/exchange_phase.hpp"

#include <algorithm>

#include "algorithms/common/shapes.hpp"

namespace torus::lines {

std::vector<NodeId> ranks_over(const Topology& topology, std::span<const Dimension> dimensions) {
  std::vector<NodeId> ranks{0};
  for (const Dimension d : dimensions) {
    std::vector<NodeId> more;
    more.reserve(ranks.size() * static_cast<std::size_t>(topology.extent(d)));
    for (std::int32_t place = 0; place < topology.extent(d); ++place) {
      for (const NodeId rank : ranks) more.push_back(rank + static_cast<NodeId>(place) * topology.stride(d));
    }
    ranks = std::move(more);
  }
  return ranks;
}

ExchangePhase::ExchangePhase(const Topology& topology, Dimension d, std::span<const Dimension> earlier)
    : dimension_{d},
      line_{topology.shape()[static_cast<std::size_t>(d)]},
      stride_{topology.stride(d)},
      before_(earlier.begin(), earlier.end()),
      earlier_{ranks_over(topology, earlier)} {}

NodeId ExchangePhase::earlier_part(const Topology& topology, NodeId rank) const noexcept {
  NodeId sum = 0;
  for (const Dimension d : before_) sum += static_cast<NodeId>(topology.coordinate(rank, d)) * topology.stride(d);
  return sum;
}

std::vector<Dimension> gathering_order(const Topology& topology) {
  const auto heard = [&](Dimension d) {
    const PairedLine line(topology.shape()[static_cast<std::size_t>(d)]);
    std::int64_t sum = 0;
    for (std::int32_t step = 0; step < line.steps(); ++step) sum += line.longest_gathered(step);
    return sum;
  };
  std::vector<Dimension> order = linked_dimensions(topology);
  std::stable_sort(order.begin(), order.end(), [&](Dimension a, Dimension b) {
    if (topology.twisted()) return topology.extent(a) > topology.extent(b);
    return heard(a) * (topology.extent(b) - 1) > heard(b) * (topology.extent(a) - 1);
  });
  return order;
}

}  // namespace torus::lines
