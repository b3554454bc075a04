#include "tools/torus/view/by_node.hpp"

#include <algorithm>

#include <torus/collective.hpp>

namespace torus::command {

ByNode::ByNode(const TraceHeader& header) : header_{header} {
  if (!header.mapped()) return;
  const CollectiveFacts& facts = facts_of(header.collective);
  const std::vector<NodeId>& nodes = header.groups.front();
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

}  // namespace torus::command
