#include "algorithms/total_exchange/ways.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "algorithms/common/living_channels.hpp"
#include "runtime/base/words.hpp"

namespace torus::total_exchange {

std::vector<Delivery> deliveries(const Placement& placement) {
  std::vector<std::pair<BlockId, NodeId>> starts;
  for (NodeId node = 0; node < placement.nodes(); ++node) {
    for (std::uint64_t i = 0; i < placement.initial_count(node); ++i) starts.emplace_back(placement.initial(node, i), node);
  }
  std::sort(starts.begin(), starts.end());
  std::vector<Delivery> all;
  for (NodeId node = 0; node < placement.nodes(); ++node) {
    for (std::uint64_t i = 0; i < placement.wanted_count(node); ++i) {
      const BlockId id = placement.wanted(node, i);
      const NodeId from = std::lower_bound(starts.begin(), starts.end(), std::pair(id, NodeId{0}))->second;
      if (from != node && !placement.empty(id)) all.push_back({from, node, id, placement.bytes(id)});
    }
  }
  return all;
}

BalancedWays::BalancedWays(const Machine& machine, const LivingChannels& channels, const std::vector<Delivery>& deliveries)
    : channels_{channels},
      deliveries_{deliveries},
      loads_(channels, machine.ports),
      hops_(channels.nodes()),
      first_(deliveries.size() + 1),
      least_(channels.nodes()),
      came_by_(channels.nodes()) {
  constexpr std::size_t few = std::size_t{1} << 16U;
  ByteSum byte_hops = 0;
  for (std::size_t i = 0; i < deliveries.size(); ++i) {
    const auto& [from, to, id, bytes] = deliveries[i];
    if (hops_[to].empty()) hops_[to] = living_hops(machine.topology, to);
    const auto hops = static_cast<std::size_t>(hops_[to][from]);
    first_[i + 1] = first_[i] + hops;
    byte_hops += times_bytes(hops, bytes);
  }
  channels_of_.resize(first_.back());
  mean_ = std::max(1.0, byte_hops / std::max(1U, channels.count()));
  const std::vector<std::size_t> all = order();
  for (unsigned pass = 0; pass < (deliveries.size() <= few ? 4 : 2); ++pass) {
    for (const std::size_t i : all) {
      if (pass > 0) load(i, -1);
      find(i);
      load(i, +1);
    }
  }
}

/// The largest first; of equal ones no node's all at once.
std::vector<std::size_t> BalancedWays::order() const {
  const auto mixed = [&](std::size_t i) { return detail::mixed(deliveries_[i].id * detail::mixed_step); };
  std::vector<std::size_t> order(deliveries_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tuple(deliveries_[b].bytes, mixed(a)) < std::tuple(deliveries_[a].bytes, mixed(b));
  });
  return order;
}

void BalancedWays::load(std::size_t delivery, int sign) {
  for (const std::uint32_t channel : of(delivery)) loads_.add(channel, sign * static_cast<ByteSum>(deliveries_[delivery].bytes));
}

double BalancedWays::price(std::uint32_t channel, Bytes bytes) const {
  double sum = 0;
  loads_.each(channel, [&](ByteSum load) {
    double power = (load + static_cast<ByteSum>(bytes)) / mean_;
    for (int squared = 0; squared < 4; ++squared) power *= power;
    sum += power;
  });
  return sum;
}

void BalancedWays::find(std::size_t number) {
  const Delivery& delivery = deliveries_[number];
  const std::vector<std::int32_t>& hops = hops_[delivery.to];
  reached_.assign(1, delivery.from);
  least_[delivery.from] = 0;
  for (std::int32_t left = hops[delivery.from]; left > 0; --left) {
    next_.clear();
    for (const NodeId node : reached_) {
      channels_.each_of(node, [&](std::uint32_t channel) {
        const NodeId beyond = channels_[channel].to;
        if (hops[beyond] + 1 != left) return;
        const double cost = least_[node] + price(channel, delivery.bytes);
        const bool known = std::find(next_.begin(), next_.end(), beyond) != next_.end();
        if (known && cost >= least_[beyond]) return;
        if (!known) next_.push_back(beyond);
        least_[beyond] = cost;
        came_by_[beyond] = channel;
      });
    }
    std::swap(reached_, next_);
  }
  NodeId at = delivery.to;
  for (std::size_t hop = first_[number + 1]; hop-- > first_[number]; at = channels_[came_by_[at]].from) channels_of_[hop] = came_by_[at];
}

}  // namespace torus::total_exchange
