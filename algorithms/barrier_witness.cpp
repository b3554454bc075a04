#include "algorithms/barrier_witness.hpp"

#include <algorithm>
#include <bit>

namespace torus {

BarrierWitness::BarrierWitness(const Topology& topology)
    : topology_{&topology},
      nodes_{topology.nodes()},
      words_{(count(nodes_) + std::size_t{63}) / 64},
      heard_(nodes_ * words_),
      news_(heard_) {
  for (NodeId i = 0; i < count(nodes_); ++i) heard_[node_of(i) * words_ + i / 64] |= std::uint64_t{1} << (i % 64);
  for (NodeId i = 0; i < count(nodes_); ++i) {  // nobody need hear of the dead
    if (topology.living(node_of(i))) continue;
    for (NodeId node = 0; node < nodes_; ++node) heard_[node * words_ + i / 64] |= std::uint64_t{1} << (i % 64);
  }
  news_ = heard_;
}

Bytes BarrierWitness::bytes(NodeId nodes) noexcept { return 2 * Bytes{nodes} * ((count(nodes) + Bytes{63}) / 64) * 8; }

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
  for (NodeId node = 0; node < nodes_; ++node) {
    if (!topology_->living(node)) continue;
    for (NodeId first = 0; first < count(nodes_); first += 64) {
      const std::uint64_t unheard = ~heard_[node * words_ + first / 64];
      const NodeId i = first + static_cast<NodeId>(std::countr_zero(unheard));
      if (unheard == 0 || i >= count(nodes_)) continue;
      result.verified = false;
      result.wrong = {.kind = WrongDelivery::Kind::not_heard, .node = node, .contributor = node_of(i)};
      return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace torus
