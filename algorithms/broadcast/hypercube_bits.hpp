/// A mesh with extents that are powers of two, seen as a hypercube: node j's neighbour over bit b is j XOR b.
#pragma once

#include <cstdint>

#include <torus/node.hpp>

namespace torus::broadcast {

/// The straight way from a node to node XOR bit (bit: a power of two below the number of nodes), without wrap-around links.
inline Leg leg_over_bit(const Topology& topology, NodeId node, NodeId bit) noexcept {
  Dimension d = 0;
  while (topology.stride(d) > bit) ++d;
  const auto hops = static_cast<std::int32_t>(bit / topology.stride(d));
  return {d, (node & bit) != 0 ? -hops : hops};
}

/// The hops over every bit once, summed: 1 + 2 + 4 + .. in each dimension.
inline std::uint64_t hops_over_all_bits(const Topology& topology) noexcept {
  std::uint64_t hops = 0;
  for (const DimensionShape& dimension : topology.shape()) hops += static_cast<std::uint64_t>(dimension.extent) - 1;
  return hops;
}

/// Sends all that a node holds to its neighbour over a bit.
inline void send_over_bit(Node& self, NodeId bit) { self.send({leg_over_bit(self.topology(), self.rank(), bit)}, self.blocks()); }

}  // namespace torus::broadcast
