#include "algorithms/barrier_witness.hpp"

#include <algorithm>
#include <bit>

namespace torus {

BarrierWitness::BarrierWitness(NodeId nodes)
    : nodes_{nodes}, words_{(count(nodes) + std::size_t{63}) / 64}, heard_(nodes * words_), news_(heard_) {
  for (NodeId i = 0; i < count(nodes); ++i) heard_[node_of(i) * words_ + i / 64] |= std::uint64_t{1} << (i % 64);
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

void BarrierWitness::judge(RunResult& result) const {
  if (!result.verified || !result.good()) return;
  for (NodeId node = 0; node < nodes_; ++node) {
    for (NodeId first = 0; first < count(nodes_); first += 64) {
      const std::uint64_t unheard = ~heard_[node * words_ + first / 64];
      const NodeId i = first + static_cast<NodeId>(std::countr_zero(unheard));
      if (unheard == 0 || i >= count(nodes_)) continue;
      result.verified = false;
      result.wrong = {.kind = WrongDelivery::Kind::not_heard, .node = node, .contributor = node_of(i)};
      return;
    }
  }
}

}  // namespace torus
