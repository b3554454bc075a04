/// A phase of an exchange with one port: what happens at once along all lines of one dimension, or once round all nodes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <torus/machine.hpp>
#include <torus/route.hpp>
#include <torus/topology.hpp>

#include "algorithms/lines/paired_line.hpp"

namespace torus::lines {

/// The first dimension runs fastest; a snake goes along it to and fro, so that each node is a neighbour of the next.
enum class Order { ascending, snake };

/// The ranks of the nodes whose coordinates are 0 but in these dimensions.
std::vector<NodeId> ranks_over(const Topology& topology, std::span<const Dimension> dimensions, Order order = Order::ascending);

/// All nodes of a machine in an order in which each is a neighbour of the next, and the last of the first.
struct NodeCycle {
  std::vector<NodeId> ranks;         ///< by place
  std::vector<std::int32_t> places;  ///< by rank
};

/// Whether a shape has such a cycle that is known in closed form: a side is even, or one is a ring; two sides at least, and no twist.
bool has_node_cycle(const Topology& topology);
/// The cycle of such a shape. With an even side as rows: down the first column, and back up row by row through the others, in turns to and
/// fro. Of odd sides, with a ring as rows: column by column down and up without the first row, and then back along that row.
NodeCycle node_cycle(const Topology& topology);

/// An immutable value. It knows the dimensions of the phases before it: what has been gathered along them comes along.
class ExchangePhase {
 public:
  ExchangePhase(const Topology& topology, Dimension d, std::span<const Dimension> earlier = {});

  /// Round all nodes.
  explicit ExchangePhase(std::shared_ptr<const NodeCycle> cycle);

  /// Not of a cycle.
  Dimension dimension() const noexcept { return dimension_; }
  const PairedLine& line() const noexcept { return line_; }
  std::int32_t place(const Topology& topology, NodeId rank) const noexcept {
    return cycle_ ? cycle_->places[rank] : topology.coordinate(rank, dimension_);
  }
  /// From a node to the neighbour at an offset, in places.
  Leg leg(const Topology& topology, NodeId rank, std::int32_t offset) const noexcept;

  /// Ranks are sums: of what the coordinates of earlier phases give, the place and the coordinates of later phases.
  std::span<const NodeId> earlier() const noexcept { return earlier_; }
  NodeId part(std::int32_t place) const noexcept {
    return cycle_ ? cycle_->ranks[static_cast<std::size_t>(place)] : static_cast<NodeId>(place) * stride_;
  }
  NodeId earlier_part(const Topology& topology, NodeId rank) const noexcept;
  NodeId later_part(const Topology& topology, NodeId rank) const noexcept {
    return rank - part(place(topology, rank)) - earlier_part(topology, rank);
  }
  Bytes table_bytes() const noexcept { return (earlier_.size() + (cycle_ ? 2 * cycle_->ranks.size() : 0)) * sizeof(NodeId); }

 private:
  Dimension dimension_;
  PairedLine line_;
  NodeId stride_;
  std::vector<Dimension> before_;
  std::vector<NodeId> earlier_;
  std::shared_ptr<const NodeCycle> cycle_;
};

/// The dimensions of more than one node in the order of an all-gather: first those in which a node hears the most beyond what it lacks,
/// since bundles grow from phase to phase. Of a twisted torus the long ones: a hop over the end of a short one moves along them, which does
/// not matter once all their places have the same.
std::vector<Dimension> gathering_order(const Topology& topology);

}  // namespace torus::lines
