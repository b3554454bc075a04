/// Cuts of a machine whose channels are looked at one by one: along the layers of its dimensions, and those that max flows find.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <torus/machine.hpp>

namespace torus {

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
/// a greater ratio: it takes the place of D / C (Dinkelbach, 1967), until all reaches t. Then no S without t has a greater one.
///
/// `capacity(from, dimension, hop)`: of a channel, whole, at least 1; the same both ways of a link. Time: about one max flow for each sink.
void find_flow_cuts(const Topology& topology, const FlowSupply& supply,
                    const std::function<std::int64_t(NodeId, Dimension, std::int32_t)>& capacity,
                    const std::function<void(const std::vector<bool>& inside)>& found);

}  // namespace torus
