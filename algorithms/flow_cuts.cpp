#include "algorithms/flow_cuts.hpp"

#include <numeric>

#include "algorithms/common/max_flow.hpp"

namespace torus {
namespace {

/// A link as an arc of the flow.
struct Pipe {
  std::size_t arc;
  NodeId from, to;
  std::int64_t capacity;
};

struct Ratio {
  std::int64_t supply = 0, capacity = 1;
  void raise(std::int64_t more, std::int64_t over) noexcept {
    if (more * capacity > supply * over) *this = {more, over};
  }
};

}  // namespace

void find_flow_cuts(const Topology& topology, const Crossing::Supply& supply,
                    const std::function<std::int64_t(NodeId, Dimension, std::int32_t)>& capacity,
                    const std::function<void(const std::vector<bool>& inside)>& found) {
  const std::size_t nodes = topology.nodes(), source = nodes;
  MaxFlow flow(nodes + 1);
  std::vector<Pipe> pipes;
  std::vector<std::size_t> taps;
  std::vector<std::int64_t> around(nodes, 0);  // capacity of all channels of a node
  for (NodeId node = 0; node < nodes; ++node) {
    taps.push_back(flow.add(source, node));
    if (!topology.living(node)) continue;
    topology.each_link(node, [&](Dimension d, std::int32_t hop, NodeId to) {
      const std::int64_t carries = capacity(node, d, hop);
      around[node] += carries;
      // Each link is seen from both ends.
      if (node < to) pipes.push_back({flow.add(node, to), node, to, carries});
    });
  }
  const std::int64_t all = std::accumulate(supply.of.begin(), supply.of.end(), std::int64_t{0});
  Ratio best;
  for (NodeId node = 0; node < nodes; ++node) {
    if (supply.of[node] > 0 && supply.sinks.size() > 1) best.raise(supply.of[node], around[node]);
  }
  for (const NodeId sink : supply.sinks) best.raise(all - supply.of[sink], around[sink]);

  std::vector<bool> inside(nodes);
  for (const NodeId sink : supply.sinks) {
    while (true) {
      for (const Pipe& pipe : pipes) flow.set(pipe.arc, best.supply * pipe.capacity, best.supply * pipe.capacity);
      for (NodeId node = 0; node < nodes; ++node) flow.set(taps[node], best.capacity * supply.of[node], 0);
      if (flow.run(source, sink) >= best.capacity * all) break;
      Ratio better{0, 0};
      for (NodeId node = 0; node < nodes; ++node) {
        inside[node] = flow.before_cut(node);
        if (inside[node]) better.supply += supply.of[node];
      }
      for (const Pipe& pipe : pipes) {
        if (inside[pipe.from] != inside[pipe.to]) better.capacity += pipe.capacity;
      }
      best = better;
      found(inside);
    }
  }
}

}  // namespace torus
