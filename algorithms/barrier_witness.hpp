/// Who has heard of whom in a barrier: the proof that it held everybody back until everybody had come.
///
/// The engine knows blocks, and a barrier has none. So whoever runs one shows its messages to a witness, which keeps the book of the judge
/// of traces (detail::Heard). At the end every node must have heard of every node.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <torus/groups.hpp>
#include <torus/message.hpp>
#include <torus/result.hpp>
#include <torus/topology.hpp>

#include "runtime/trace/contributors.hpp"

namespace torus {

class BarrierWitness {
 public:
  /// Up to so many nodes the sets are exact. On more nodes it follows the news of `followed` nodes, evenly spaced: who has heard of them.
  static constexpr NodeId most_exact = 4096;
  static constexpr NodeId followed = 512;

  /// Dead nodes take no part. groups: each has a barrier of its own; null: all nodes are one. Both must outlive this.
  explicit BarrierWitness(const Topology& topology, const Groups* groups = nullptr);
  /// Memory for a machine of `nodes` nodes, in groups of `in_a_group` each.
  static Bytes bytes(NodeId nodes, NodeId in_a_group) noexcept;
  /// What is proved of a verified barrier of `nodes` nodes.
  static std::string proof(NodeId nodes);

  /// The messages of a step, in any order.
  void step(std::span<const Message* const> messages);
  /// Completes the result of a run in which the engine found nothing wrong: verified if every node has heard of every followed node, wrong
  /// with the first that has not, else. A run that was not to be verified stays so. A run that a fault has struck is not verified, since
  /// the witness sees what is sent and not what arrives; returns a line that says so.
  std::optional<std::string> judge(RunResult& result) const;

 private:
  static NodeId count(NodeId nodes) noexcept { return nodes <= most_exact ? nodes : followed; }
  /// The rank, in its group, that number i of a set stands for.
  NodeId local_of(std::uint64_t i) const noexcept { return static_cast<NodeId>(i * nodes_ / count(nodes_)); }

  const Topology* topology_;
  const Groups* groups_;
  NodeId nodes_;  // of a group
  detail::Heard heard_;
};

}  // namespace torus
