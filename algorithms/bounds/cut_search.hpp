/// Cuts of a machine whose channels are looked at one by one: along the layers of its dimensions, and those that max flows find.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <torus/machine.hpp>

namespace torus {

/// The largest flow between two nodes of a network with whole capacities, and the narrowest cut that proves it.
///
/// Dinic, "Algorithm for solution of a problem of maximum flow in networks with power estimation", 1970: flows along shortest paths, level
/// by level. O(nodes^2 arcs) at worst; on a torus some passes over its arcs. A network is built once and asked many times.
class MaxFlow {
 public:
  explicit MaxFlow(std::size_t nodes) : arcs_of_(nodes) {}

  /// An arc each way. Returns a number for set().
  std::size_t add(std::size_t from, std::size_t to);
  /// Its capacities, 0 or more, and no flow over it. Each run() wants all arcs set anew.
  void set(std::size_t arc, std::int64_t there, std::int64_t back) noexcept {
    arcs_[arc].left = there;
    arcs_[arc ^ 1U].left = back;
  }
  /// The value of a maximum flow between two different nodes, or `most` if that is not more.
  std::int64_t run(std::size_t source, std::size_t sink, std::int64_t most);
  /// After a run() of less than `most`: whether the node is on the source's side of the narrowest cut nearest to the source.
  bool before_cut(std::size_t node) const noexcept { return before_cut_[node]; }

 private:
  struct Arc {
    std::size_t to;
    std::int64_t left;  // capacity without the flow
  };
  /// Distances to the sink over arcs with capacity left, up to that of the source; whether it has one. From the sink, which is mostly near.
  bool find_levels(std::size_t source, std::size_t sink);
  /// What the source reaches over arcs with capacity left.
  void find_side(std::size_t source);
  /// Sends at most so much on to the sink along descending levels.
  std::int64_t push(std::size_t node, std::size_t sink, std::int64_t most);

  std::vector<Arc> arcs_;  // 2i and 2i+1 are each other's way back
  std::vector<std::vector<std::size_t>> arcs_of_;
  std::vector<std::int32_t> level_;
  std::vector<bool> before_cut_;
  std::vector<std::size_t> next_, queue_;
};

/// A set of living nodes and the channels that leave it.
struct CutSet {
  std::uint64_t nodes = 0;
  std::uint64_t marked = 0;  ///< of them
  std::uint64_t channels = 0;
  double rate = 0;  ///< the sum of 1 / T_c over the channels
};

/// Layers first .. last of a dimension.
struct Layers {
  Dimension dimension;
  std::int32_t first, last;
};

/// Calls found(set, layers) for every interval of layers of every dimension that holds some of the living nodes and not all. A dimension of
/// more than 256 layers counts as 256 groups of them. `marked`: living nodes. O((channels + marked) * dimensions + 2^22 * dimensions).
void find_layer_cuts(const Machine& machine, const std::vector<NodeId>& marked,
                     const std::function<void(const CutSet& set, const Layers& layers)>& found);

/// What each node gives to a flow, and the nodes that it must reach.
struct FlowSupply {
  std::vector<std::int64_t> of;  ///< by node
  std::vector<NodeId> sinks;
};

/// Cuts of a machine with dead or slow channels that carry too little for what must cross them. Calls found(inside) for sets S of nodes
/// that leave a sink out, each with a greater supply(S) / capacity(S) than the one before. The last has the greatest ratio of all. Sets of
/// one node, and of all nodes except one, are left to the caller.
///
/// A sink t alone: let D / C be the greatest ratio so far. A super source gives each node C times its supply, and a channel carries D times
/// its capacity. If not all reaches t, the sources' side S of a narrowest cut has C * (all - supply(S)) + D * capacity(S) < C * all, and so
/// a greater ratio: it takes the place of D / C (Dinkelbach, 1967), until all reaches t. Then no S without t has a greater one. So for
/// the sinks after t, t may give all that there is: only sets with it count, and most flows come from near the sink.
///
/// `capacity(from, dimension, hop)`: of a channel, whole, at least 1; the same both ways of a link. Time: about one max flow for each sink.
void find_flow_cuts(const Topology& topology, const FlowSupply& supply,
                    const std::function<std::int64_t(NodeId, Dimension, std::int32_t)>& capacity,
                    const std::function<void(const std::vector<bool>& inside)>& found);

}  // namespace torus
