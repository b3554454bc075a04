#include "tools/torus/view/by_node.hpp"

#include <algorithm>
#include <fmt/format.h>

#include <torus/collective.hpp>

#include "runtime/base/figures.hpp"

namespace torus::command {

ByNode::ByNode(const TraceHeader& header) : header_{header} {
  if (!header.mapped()) return;
  const CollectiveFacts& facts = facts_of(header.collective);
  const std::vector<NodeId>& nodes = header.groups.front();
  ranks_.resize(nodes.size());
  for (NodeId rank = 0; rank < nodes.size(); ++rank) ranks_[nodes[rank]] = rank;
  of_pairs_ = facts.of_pairs();
  if (of_pairs_)
    of_rank_ = nodes.size();
  else if (!facts.combines || facts.takes_sizes())
    of_rank_ = header.segments;
  for (NodeId& source : header_.sources) source = nodes[source];
  std::sort(header_.sources.begin(), header_.sources.end());
  if (header.sizes.size() != nodes.size() * of_rank_) return;
  for (std::uint64_t block = 0; block < header.sizes.size(); ++block) header_.sizes[renamed(block)] = header.sizes[block];
}

std::uint64_t ByNode::renamed(std::uint64_t block) const noexcept {
  const std::vector<NodeId>& nodes = header_.groups.front();
  const std::uint64_t at = block % (nodes.size() * of_rank_), second = at % of_rank_;  // in its register
  return block - at + nodes[at / of_rank_] * of_rank_ + (of_pairs_ ? nodes[second] : second);
}

void ByNode::rename(TraceMessage& message) const {
  if (of_rank_ == 0) return;
  for (std::uint64_t& block : message.blocks) block = renamed(block);
}

std::string ByNode::name(NodeId node) const {
  const std::string place = node_text(header_.machine.topology, node);
  return ranks_.empty() ? place : place + ", rank " + std::to_string(ranks_[node]);
}

std::string ByNode::name(const ChannelName& channel) const {
  return fmt::format("{} {}:{:+}", name(channel.from), channel.dimension, channel.hop);
}

}  // namespace torus::command
