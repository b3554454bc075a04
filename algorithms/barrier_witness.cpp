#include "algorithms/barrier_witness.hpp"

#include <algorithm>
#include <bit>

namespace torus {

BarrierWitness::BarrierWitness(const Topology& topology, const Groups* groups)
    : topology_{&topology},
      groups_{groups},
      nodes_{groups == nullptr ? topology.nodes() : groups->topology().nodes()},
      words_{(count(nodes_) + std::size_t{63}) / 64},
      heard_(topology.nodes() * words_) {
  const auto member = [&](NodeId group, NodeId local) { return groups == nullptr ? local : groups->member(group, local); };
  const auto hears = [&](NodeId node, NodeId i) { heard_[node * words_ + i / 64] |= std::uint64_t{1} << (i % 64); };
  for (NodeId group = 0; group < (groups == nullptr ? 1 : groups->count()); ++group) {
    for (NodeId i = 0; i < count(nodes_); ++i) {
      const NodeId node = member(group, local_of(i));
      hears(node, i);
      for (NodeId local = 0; local < nodes_ && !topology.living(node); ++local)
        hears(member(group, local), i);  // no node waits for news of a dead one
    }
  }
  news_ = heard_;
}

bool BarrierWitness::takes_part(NodeId node) const noexcept {
  return topology_->living(node) && (groups_ == nullptr || groups_->group_of(node) != Groups::none);
}

NodeId BarrierWitness::node_of(NodeId node, std::uint64_t i) const noexcept {
  return groups_ == nullptr ? local_of(i) : groups_->member(groups_->group_of(node), local_of(i));
}

Bytes BarrierWitness::bytes(NodeId nodes, NodeId in_a_group) noexcept {
  return 2 * Bytes{nodes} * ((count(in_a_group) + Bytes{63}) / 64) * 8;
}

std::string BarrierWitness::proof(NodeId nodes) {
  if (nodes <= most_exact) return "every node has heard of every other";
  return "every node has heard of each of " + std::to_string(followed) + " evenly spaced ones";
}

void BarrierWitness::step(std::span<const Message* const> messages) {
  for (const Message* m : messages) {
    const std::uint64_t* from = heard_.data() + m->source() * words_;
    std::uint64_t* to = news_.data() + m->destination() * words_;
    for (std::size_t i = 0; i < words_; ++i) to[i] |= from[i];
  }
  for (const Message* m : messages) {
    const auto at = static_cast<std::ptrdiff_t>(m->destination() * words_), end = at + static_cast<std::ptrdiff_t>(words_);
    std::copy(news_.begin() + at, news_.begin() + end, heard_.begin() + at);
  }
}

std::optional<std::string> BarrierWitness::judge(RunResult& result) const {
  if (!result.verified || !result.good()) return std::nullopt;
  if (result.fault) {
    result.verified = false;
    return "the witness of the barrier sees what is sent, not what arrives, and there was a fault: " + result.fault->text;
  }
  for (NodeId node = 0; node < topology_->nodes(); ++node) {
    if (!takes_part(node)) continue;
    for (NodeId first = 0; first < count(nodes_); first += 64) {
      const std::uint64_t unheard = ~heard_[node * words_ + first / 64];
      const NodeId i = first + static_cast<NodeId>(std::countr_zero(unheard));
      if (unheard == 0 || i >= count(nodes_)) continue;
      result.verified = false;
      result.wrong = {.kind = WrongDelivery::Kind::not_heard, .node = node, .contributor = node_of(node, i)};
      if (groups_ != nullptr) result.wrong->group = groups_->group_of(node);
      return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace torus
