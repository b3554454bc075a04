/// The groups of a trace by node, for what draws nodes or follows what they hold.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <torus/trace_reader.hpp>

#include "runtime/model/channel.hpp"

namespace torus::command {

/// In which group a node is, and with which rank. Sources and numbers of blocks go by these ranks. Where a trace has no groups, all nodes
/// are one, and a node's rank is its own; a map is one group of all nodes, in another order.
class TraceGroups {
 public:
  explicit TraceGroups(const TraceHeader& header);

  static constexpr NodeId none = 0xffffffff;
  struct Place {
    NodeId group = none;  ///< none: the node is in no group, and does nothing
    NodeId rank = 0;
  };
  Place place(NodeId node) const noexcept { return said_ ? places_[node] : Place{0, node}; }
  NodeId count() const noexcept { return said_ ? static_cast<NodeId>(nodes_.size()) : 1; }
  /// How many nodes a group has.
  NodeId nodes(NodeId group) const noexcept { return said_ ? static_cast<NodeId>(nodes_[group].size()) : topology_.nodes(); }
  /// The nodes of the largest group.
  NodeId most_nodes() const noexcept;
  /// The node of a rank.
  NodeId node(NodeId group, NodeId rank) const noexcept { return said_ ? nodes_[group][rank] : rank; }
  /// Whether a rank is one of the group, of a node that lives.
  bool living(NodeId group, std::uint64_t rank) const noexcept {
    return rank < nodes(group) && topology_.living(node(group, static_cast<NodeId>(rank)));
  }
  /// The nodes of such ranks, of all groups.
  std::vector<NodeId> nodes_of(const std::vector<NodeId>& ranks) const;
  /// Whether nodes have other ranks than their own, or are in several groups.
  bool said() const noexcept { return said_; }
  bool mapped() const noexcept { return mapped_; }

  static constexpr NodeId colours = 7;
  /// By group: a number below `colours`. Groups that are linked have different ones, as far as seven suffice; up to seven all do.
  std::vector<NodeId> colour() const;

  /// "(1,3)", or "(1,3), rank 4" where ranks are mapped.
  std::string name(NodeId node) const;
  /// "(1,3) 0:+1": the node, the dimension and the direction.
  std::string name(const ChannelName& channel) const;

 private:
  Topology topology_;
  bool said_, mapped_;
  std::vector<std::vector<NodeId>> nodes_;  // by group and rank, as is the next: none, where none are said
  std::vector<Place> places_;
};

}  // namespace torus::command
