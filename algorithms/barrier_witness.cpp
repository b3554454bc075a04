#include "algorithms/barrier_witness.hpp"

namespace torus {

BarrierWitness::BarrierWitness(const Topology& topology, const Groups* groups)
    : topology_{&topology},
      groups_{groups},
      nodes_{groups == nullptr ? topology.nodes() : groups->topology().nodes()},
      heard_(topology.nodes(), count(nodes_)) {
  const auto member = [&](NodeId group, NodeId local) { return groups == nullptr ? local : groups->member(group, local); };
  for (NodeId group = 0; group < (groups == nullptr ? 1 : groups->count()); ++group) {
    for (NodeId i = 0; i < count(nodes_); ++i) {
      const NodeId node = member(group, local_of(i));
      heard_.hear(node, i);
      for (NodeId local = 0; local < nodes_ && !topology.living(node); ++local)
        heard_.hear(member(group, local), i);  // no node waits for news of a dead one
    }
  }
}

Bytes BarrierWitness::bytes(NodeId nodes, NodeId in_a_group) noexcept {
  return 2 * Bytes{nodes} * ((count(in_a_group) + Bytes{63}) / 64) * 8;
}

std::string BarrierWitness::proof(NodeId nodes) {
  if (nodes <= most_exact) return "every node has heard of every other";
  return "every node has heard of each of " + std::to_string(followed) + " evenly spaced ones";
}

void BarrierWitness::step(std::span<const Message* const> messages) {
  for (const Message* m : messages) heard_.sent(m->source(), m->destination());
  heard_.end_step();
}

std::optional<std::string> BarrierWitness::judge(RunResult& result) const {
  if (!result.verified || !result.good()) return std::nullopt;
  if (result.fault) {
    result.verified = false;
    return "the witness of the barrier sees what is sent, not what arrives, and there was a fault: " + result.fault->text;
  }
  for (NodeId node = 0; node < topology_->nodes(); ++node) {
    const NodeId group = groups_ != nullptr ? groups_->group_of(node) : 0;
    const auto unheard = topology_->living(node) && group != Groups::none ? heard_.unheard(node) : std::nullopt;
    if (!unheard) continue;
    const NodeId whom = groups_ != nullptr ? groups_->member(group, local_of(*unheard)) : local_of(*unheard);
    result.verified = false;
    result.wrong = {.kind = WrongDelivery::Kind::not_heard, .node = node, .contributor = whom};
    if (groups_ != nullptr) result.wrong->place_in(*groups_);
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace torus
