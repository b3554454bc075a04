/// A phase of an exchange with one port: what happens at once along all lines of one dimension.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <torus/machine.hpp>
#include <torus/route.hpp>
#include <torus/topology.hpp>

#include "algorithms/lines/paired_line.hpp"

namespace torus::lines {

/// The ranks of the nodes whose coordinates are 0 but in these dimensions.
std::vector<NodeId> ranks_over(const Topology& topology, std::span<const Dimension> dimensions);

/// An immutable value. It knows the dimensions of the phases before it: what has been gathered along them comes along.
class ExchangePhase {
 public:
  ExchangePhase(const Topology& topology, Dimension d, std::span<const Dimension> earlier = {});

  Dimension dimension() const noexcept { return dimension_; }
  const PairedLine& line() const noexcept { return line_; }
  std::int32_t place(const Topology& topology, NodeId rank) const noexcept { return topology.coordinate(rank, dimension_); }
  Leg leg(std::int32_t offset) const noexcept { return {dimension_, line_.hops(offset)}; }
  Leg back(const Topology& topology, std::int32_t offset) const noexcept {
    return {dimension_, topology.reverse(dimension_, line_.hops(offset))};
  }

  /// Ranks are sums: of what the coordinates of earlier phases give, the place and the coordinates of later phases.
  std::span<const NodeId> earlier() const noexcept { return earlier_; }
  NodeId part(std::int32_t place) const noexcept { return static_cast<NodeId>(place) * stride_; }
  NodeId earlier_part(const Topology& topology, NodeId rank) const noexcept;
  NodeId later_part(const Topology& topology, NodeId rank) const noexcept {
    return rank - part(place(topology, rank)) - earlier_part(topology, rank);
  }
  Bytes table_bytes() const noexcept { return earlier_.size() * sizeof(NodeId); }

 private:
  Dimension dimension_;
  PairedLine line_;
  NodeId stride_;
  std::vector<Dimension> before_;
  std::vector<NodeId> earlier_;
};

/// The dimensions of more than one node in the order of an all-gather: first those in which a node hears the most beyond what it lacks,
/// since bundles grow from phase to phase. Of a twisted torus the long ones: a hop over the end of a short one moves along them, which does
/// not matter once all their places have the same.
std::vector<Dimension> gathering_order(const Topology& topology);

}  // namespace torus::lines
