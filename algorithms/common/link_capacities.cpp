#include "algorithms/common/link_capacities.hpp"

#include <limits>

#include "algorithms/common/living_channels.hpp"

namespace torus {
namespace {

/// Whether the living nodes hang together by channels that pass something.
bool connects(const Topology& topology, const LinkCapacities& capacities) {
  std::vector<bool> seen(topology.nodes());
  std::vector<NodeId> queue;
  for (NodeId node = 0; node < topology.nodes() && queue.empty(); ++node) {
    if (topology.living(node)) queue.push_back(node);
  }
  seen[queue.front()] = true;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const NodeId node = queue[i];
    topology.each_link(node, [&](Dimension d, std::int32_t hop, NodeId to) {
      if (seen[to] || capacities.of(node, d, hop) == 0) return;
      seen[to] = true;
      queue.push_back(to);
    });
  }
  return queue.size() == topology.living_nodes();
}

}  // namespace

LinkCapacities::LinkCapacities(const Machine& machine, std::uint32_t most) : machine_{machine}, most_{most} {
  step_byte_s_ = most_ * machine.cost.byte_s;
  if (machine.cost.one_speed()) return;
  fastest_s_ = std::numeric_limits<double>::infinity();
  double slowest_s = 0;
  each_living_channel(machine.topology, [&](NodeId node, Dimension d, std::int32_t hop, NodeId) {
    const double byte_s = machine.byte_s(node, d, hop);
    slowest_s = std::max(slowest_s, byte_s);
    if (byte_s > 0) fastest_s_ = std::min(fastest_s_, byte_s);
  });
  if (most_ * fastest_s_ < slowest_s && !connects(machine.topology, *this)) least_ = 1;
  step_byte_s_ = 0;
  each_living_channel(machine.topology, [&](NodeId node, Dimension d, std::int32_t hop, NodeId) {
    step_byte_s_ = std::max(step_byte_s_, of(node, d, hop) * machine.byte_s(node, d, hop));
  });
}

std::uint64_t LinkCapacities::around(NodeId node) const noexcept {
  std::uint64_t sum = 0;
  machine_.topology.each_link(node, [&](Dimension d, std::int32_t hop, NodeId) { sum += of(node, d, hop); });
  return sum;
}

std::vector<std::uint32_t> capacities_to_try(const Machine& machine) {
  constexpr std::uint32_t most = 16;
  std::vector<std::uint32_t> tries{1};
  for (std::uint32_t next = 2; !machine.cost.one_speed() && next <= most; ++next) tries.push_back(next);
  return tries;
}

}  // namespace torus
