/// A route: the path of one message, leg by leg.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <span>

#include <torus/inline_vector.hpp>
#include <torus/topology.hpp>

namespace torus {

/// A straight part of a route: signed hops along one dimension (on a complete dimension: one hop to the node at that offset).
/// The engine follows the sign as given. It never takes the shorter direction instead. Without default values, which each route would set
/// 32 times; Leg{} is no hops in dimension 0.
struct Leg {
  Dimension dimension;
  std::int32_t hops;
  friend bool operator==(const Leg&, const Leg&) = default;
};

/// Legs in the order of travel. A leg of 0 hops is allowed and moves nothing.
using Route = InlineVector<Leg, max_dimensions>;
/// The parameter type for routes: a Route, or any contiguous list of legs of any length.
using RouteView = std::span<const Leg>;

/// Channels that a leg crosses.
inline std::int32_t hops_of(const Topology& topology, const Leg& leg) noexcept {
  if (topology.wiring(leg.dimension) == Wiring::complete) return leg.hops == 0 ? 0 : 1;
  return std::abs(leg.hops);
}

/// The shortest route between two nodes: dimensions in the given order, ties on rings in direction +. Throws InputError if there is no
/// node `to`. O(dimensions).
Route shortest_route(const Topology& topology, NodeId from, NodeId to, std::span<const Dimension> order);

}  // namespace torus
