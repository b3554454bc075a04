// One flow, hence one file: Dinic on the channels, and the circuits taken apart again.
#include "algorithms/broadcast/circuit/circuit_flow.hpp"

#include <algorithm>

#include <torus/error.hpp>

namespace torus::broadcast {
namespace {

constexpr std::uint32_t unreached = ~std::uint32_t{0};

}  // namespace

CircuitFlow::CircuitFlow(const Topology& topology, std::int32_t ports)
    : ports_{ports},
      directions_{2 * topology.dimensions()},
      role_(topology.nodes(), Role::none),
      sent_(topology.nodes(), 0),
      level_(topology.nodes(), unreached),
      tried_(topology.nodes(), 0) {
  TORUS_ASSERT(is_torus_or_mesh(topology));
  next_.reserve(topology.nodes() * static_cast<std::size_t>(directions_));
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    for (Dimension d = 0; d < topology.dimensions(); ++d) {
      for (const std::int32_t hop : {+1, -1}) {
        const bool linked = topology.extent(d) > 1 && topology.passes(node, d, hop);
        next_.push_back(linked ? topology.neighbour(node, d, hop).value_or(node) : node);
      }
    }
  }
  used_.assign(next_.size(), 0);
}

std::size_t CircuitFlow::solve(std::span<const NodeId> senders, std::span<const NodeId> targets) {
  std::fill(used_.begin(), used_.end(), std::uint8_t{0});
  std::fill(role_.begin(), role_.end(), Role::none);
  std::fill(sent_.begin(), sent_.end(), 0);
  senders_.assign(senders.begin(), senders.end());
  targets_.assign(targets.begin(), targets.end());
  for (const NodeId node : senders_) role_[node] = Role::sender;
  for (const NodeId node : targets_) role_[node] = Role::target;
  greedy_start();
  looks_ += next_.size();
  while (find_levels()) {
    std::fill(tried_.begin(), tried_.end(), std::uint8_t{0});
    for (const NodeId sender : senders_) {
      while (sent_[sender] < ports_ && augment(sender)) ++sent_[sender];
    }
  }
  return static_cast<std::size_t>(std::count_if(targets_.begin(), targets_.end(), [&](NodeId t) { return role_[t] == Role::served; }));
}

std::vector<NodeId> CircuitFlow::unserved() const {
  std::vector<NodeId> nodes;
  std::copy_if(targets_.begin(), targets_.end(), std::back_inserter(nodes), [&](NodeId t) { return role_[t] == Role::target; });
  return nodes;
}

void CircuitFlow::greedy_start() {
  for (const NodeId sender : senders_) {
    for (std::int32_t direction = 0; direction < directions_ && sent_[sender] < ports_; ++direction) {
      const NodeId to = next_[channel(sender, direction)];
      if (role_[to] != Role::target) continue;
      role_[to] = Role::served;
      used_[channel(sender, direction)] = 1;
      ++sent_[sender];
    }
  }
}

/// Distances from all senders with free ports along channels where the flow can grow; false if no unserved target is in reach. It looks
/// twice as far as the nearest target: that saves rounds where targets are at many distances, and routes hardly grow.
bool CircuitFlow::find_levels() {
  std::fill(level_.begin(), level_.end(), unreached);
  queue_.clear();
  for (const NodeId sender : senders_) {
    if (sent_[sender] == ports_) continue;
    level_[sender] = 0;
    queue_.push_back(sender);
  }
  std::uint32_t last = unreached;
  for (std::size_t head = 0; head < queue_.size(); ++head) {
    const NodeId node = queue_[head];
    if (level_[node] >= last) break;
    for (std::int32_t direction = 0; direction < directions_; ++direction) {
      const NodeId to = next_[channel(node, direction)];
      if (level_[to] != unreached || to == node || !open(node, direction, to)) continue;
      level_[to] = level_[node] + 1;
      if (role_[to] == Role::target && last == unreached) last = 2 * level_[to];
      queue_.push_back(to);
    }
  }
  looks_ += queue_.size() * static_cast<std::size_t>(directions_);
  return last != unreached;
}

/// One more circuit from a sender along ascending levels.
bool CircuitFlow::augment(NodeId sender) {
  path_.clear();
  NodeId node = sender;
  while (true) {
    if (role_[node] == Role::target) {
      for (const auto& [from, direction] : path_) push(from, direction, next_[channel(from, direction)]);
      role_[node] = Role::served;
      return true;
    }
    bool moved = false;
    for (; tried_[node] < directions_; ++tried_[node]) {
      ++looks_;
      const std::int32_t direction = tried_[node];
      const NodeId to = next_[channel(node, direction)];
      if (level_[to] != level_[node] + 1 || level_[to] == unreached || !open(node, direction, to)) continue;
      path_.emplace_back(node, direction);
      node = to;
      moved = true;
      break;
    }
    if (moved) continue;
    if (path_.empty()) return false;
    node = path_.back().first;  // a dead end: do not try its channel again
    path_.pop_back();
    ++tried_[node];
  }
}

void CircuitFlow::push(NodeId from, std::int32_t direction, NodeId to) {
  if (std::uint8_t& opposite = used_[channel(to, direction ^ 1)]; opposite != 0) {
    opposite = 0;
  } else {
    used_[channel(from, direction)] = 1;
  }
}

std::vector<Circuit> CircuitFlow::circuits() {
  std::vector<Circuit> all;
  std::vector<std::size_t> step_of(role_.size(), 0);  // 1 + a node's index on the present walk
  for (const NodeId sender : senders_) {
    for (; sent_[sender] > 0; --sent_[sender]) {
      path_.clear();
      NodeId node = sender;
      step_of[node] = 1;
      while (role_[node] != Role::served) {
        std::int32_t direction = 0;
        while (used_[channel(node, direction)] == 0) ++direction;  // the flow is conserved: one is used
        used_[channel(node, direction)] = 0;
        path_.emplace_back(node, direction);
        node = next_[channel(node, direction)];
        if (step_of[node] != 0) {  // a loop: cut it off
          while (path_.size() >= step_of[node]) {
            if (path_.back().first != node) step_of[path_.back().first] = 0;
            path_.pop_back();
          }
        } else {
          step_of[node] = path_.size() + 1;
        }
      }
      role_[node] = Role::none;
      step_of[node] = 0;
      Circuit circuit{sender, node, {}};
      for (const auto& [from, direction] : path_) {
        step_of[from] = 0;
        const Leg hop{direction / 2, direction % 2 == 0 ? 1 : -1};
        if (!circuit.route.empty() && circuit.route.back().dimension == hop.dimension && circuit.route.back().hops * hop.hops > 0) {
          circuit.route.back().hops += hop.hops;
        } else {
          circuit.route.push_back(hop);
        }
      }
      all.push_back(std::move(circuit));
    }
  }
  return all;
}

}  // namespace torus::broadcast
