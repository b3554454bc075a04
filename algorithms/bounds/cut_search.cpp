#include "algorithms/bounds/cut_search.hpp"

#include <algorithm>
#include <numeric>

namespace torus {

std::size_t MaxFlow::add(std::size_t from, std::size_t to) {
  const std::size_t arc = arcs_.size();
  arcs_.push_back({to, 0});
  arcs_.push_back({from, 0});
  arcs_of_[from].push_back(arc);
  arcs_of_[to].push_back(arc + 1);
  return arc;
}

bool MaxFlow::find_levels(std::size_t source, std::size_t sink) {
  level_.assign(arcs_of_.size(), -1);
  level_[sink] = 0;
  queue_.assign(1, sink);
  for (std::size_t head = 0; head < queue_.size(); ++head) {
    const std::size_t node = queue_[head];
    for (const std::size_t arc : arcs_of_[node]) {
      const std::size_t from = arcs_[arc].to;
      if (arcs_[arc ^ 1U].left == 0 || level_[from] >= 0) continue;
      level_[from] = level_[node] + 1;
      if (from == source) return true;
      queue_.push_back(from);
    }
  }
  return false;
}

void MaxFlow::find_side(std::size_t source) {
  before_cut_.assign(arcs_of_.size(), false);
  before_cut_[source] = true;
  queue_.assign(1, source);
  for (std::size_t head = 0; head < queue_.size(); ++head) {
    for (const std::size_t arc : arcs_of_[queue_[head]]) {
      const auto& [to, left] = arcs_[arc];
      if (left == 0 || before_cut_[to]) continue;
      before_cut_[to] = true;
      queue_.push_back(to);
    }
  }
}

std::int64_t MaxFlow::push(std::size_t node, std::size_t sink, std::int64_t most) {
  if (node == sink) return most;
  std::int64_t sent = 0;
  for (std::size_t& i = next_[node]; i < arcs_of_[node].size(); ++i) {
    const std::size_t arc = arcs_of_[node][i];
    if (arcs_[arc].left > 0 && level_[arcs_[arc].to] == level_[node] - 1) {
      const std::int64_t passed = push(arcs_[arc].to, sink, std::min(most - sent, arcs_[arc].left));
      arcs_[arc].left -= passed;
      arcs_[arc ^ 1U].left += passed;
      sent += passed;
      if (sent == most) return sent;  // this arc may have more to give
    }
  }
  return sent;
}

std::int64_t MaxFlow::run(std::size_t source, std::size_t sink, std::int64_t most) {
  std::int64_t flow = 0;
  while (flow < most && find_levels(source, sink)) {
    next_.assign(arcs_of_.size(), 0);
    flow += push(source, sink, most - flow);
  }
  if (flow < most) find_side(source);
  return flow;
}

namespace {

constexpr std::int32_t most_groups = 256;

struct ChannelSum {
  std::uint64_t count = 0;
  double rate = 0;
  void add(const ChannelSum& more) noexcept {
    count += more.count;
    rate += more.rate;
  }
};

/// The groups of layers of a dimension: their nodes, and the channels between them.
class LayerGroups {
 public:
  LayerGroups(const Machine& machine, Dimension dimension, const std::vector<NodeId>& marked)
      : topology_{machine.topology},
        dimension_{dimension},
        extent_{static_cast<std::size_t>(topology_.extent(dimension))},
        count_{static_cast<std::size_t>(std::min(topology_.extent(dimension), most_groups))},
        nodes_(count_),
        marked_(count_),
        below_(count_ * (count_ + 1)),
        from_(count_ * (count_ + 1)) {
    for (NodeId node = 0; node < topology_.nodes(); ++node) {
      if (!topology_.living(node)) continue;
      const std::size_t here = group(node);
      ++nodes_[here];
      topology_.each_link(node, [&](Dimension d, std::int32_t hop, NodeId to) {
        const std::size_t there = group(to);
        const ChannelSum channel{1, 1 / machine.byte_s(node, d, hop)};
        if (there < here) below_[at(here, there + 1)].add(channel);
        if (there > here) from_[at(here, there)].add(channel);
      });
    }
    for (const NodeId node : marked) ++marked_[group(node)];
    for (std::size_t group = 0; group < count_; ++group) {
      for (std::size_t other = 1; other <= count_; ++other) {
        below_[at(group, other)].add(below_[at(group, other - 1)]);
        from_[at(group, count_ - other)].add(from_[at(group, count_ - other + 1)]);
      }
    }
  }

  template <class F>
  void each_interval(F&& found) const {
    for (std::size_t first = 0; first < count_; ++first) {
      CutSet set;
      for (std::size_t last = first; last < count_; ++last) {
        set.nodes += nodes_[last];
        set.marked += marked_[last];
        if (set.nodes == 0 || set.nodes == topology_.living_nodes()) continue;
        ChannelSum out;
        for (std::size_t group = first; group <= last; ++group) {
          out.add(below_[at(group, first)]);
          out.add(from_[at(group, last + 1)]);
        }
        set.channels = out.count;
        set.rate = out.rate;
        found(set, Layers{dimension_, start(first), start(last + 1) - 1});
      }
    }
  }

 private:
  std::size_t group(NodeId node) const noexcept {
    return static_cast<std::size_t>(topology_.coordinate(node, dimension_)) * count_ / extent_;
  }
  std::size_t at(std::size_t group, std::size_t other) const noexcept { return group * (count_ + 1) + other; }
  /// The first layer of a group.
  std::int32_t start(std::size_t group) const noexcept { return static_cast<std::int32_t>((group * extent_ + count_ - 1) / count_); }

  const Topology& topology_;
  Dimension dimension_;
  std::size_t extent_, count_;
  std::vector<std::uint64_t> nodes_, marked_;  // by group
  std::vector<ChannelSum> below_, from_;       // of a group to the groups below another; to this other and those above
};

/// A link as an arc of the flow.
struct Pipe {
  std::size_t arc;
  NodeId from, to;
  std::int64_t capacity;
};

struct CutRatio {
  std::int64_t supply = 0, capacity = 1;
  void raise(std::int64_t more, std::int64_t over) noexcept {
    if (more * capacity > supply * over) *this = {more, over};
  }
};

}  // namespace

void find_layer_cuts(const Machine& machine, const std::vector<NodeId>& marked,
                     const std::function<void(const CutSet& set, const Layers& layers)>& found) {
  for (Dimension d = 0; d < machine.topology.dimensions(); ++d) {
    if (machine.topology.extent(d) > 1) LayerGroups(machine, d, marked).each_interval(found);
  }
}

void find_flow_cuts(const Topology& topology, const FlowSupply& supply,
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
  CutRatio best;
  for (NodeId node = 0; node < nodes; ++node) {
    if (supply.of[node] > 0 && supply.sinks.size() > 1) best.raise(supply.of[node], around[node]);
  }
  for (const NodeId sink : supply.sinks) best.raise(all - supply.of[sink], around[sink]);

  std::vector<bool> inside(nodes), done(nodes);
  for (const NodeId sink : supply.sinks) {
    while (true) {
      const std::int64_t enough = best.capacity * all;
      for (const Pipe& pipe : pipes) flow.set(pipe.arc, best.supply * pipe.capacity, best.supply * pipe.capacity);
      for (NodeId node = 0; node < nodes; ++node) flow.set(taps[node], done[node] ? enough : best.capacity * supply.of[node], 0);
      if (flow.run(source, sink, enough) == enough) break;
      CutRatio better{0, 0};
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
    done[sink] = true;
  }
}

}  // namespace torus
