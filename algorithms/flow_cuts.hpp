/// Cuts of a machine with dead or slow channels that carry too little for what must cross them, found by max flows.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "algorithms/crossing.hpp"

namespace torus {

/// Calls found(inside) for sets S, by node, with ever greater supply(S) / capacity(S), of those S that leave a sink out. The last is the
/// greatest there is, but for sets of one node and all but one, which the caller knows.
///
/// A sink t alone: let D / C be the greatest ratio so far. A super source gives each node C times its supply, and a channel carries D times
/// its capacity. If not all reaches t, the sources' side S of a narrowest cut has C * (all - supply(S)) + D * capacity(S) < C * all, and so
/// a greater ratio: it takes the place of D / C (Dinkelbach, 1967), until all reaches t. Then no S without t has a greater one.
///
/// `capacity(from, dimension, hop)`: of a channel, whole, at least 1; the same both ways of a link. Time: about one max flow for each sink.
void find_flow_cuts(const Topology& topology, const Crossing::Supply& supply,
                    const std::function<std::int64_t(NodeId, Dimension, std::int32_t)>& capacity,
                    const std::function<void(const std::vector<bool>& inside)>& found);

}  // namespace torus
