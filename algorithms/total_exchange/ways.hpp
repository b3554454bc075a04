/// Ways of blocks over the living channels of a machine, chosen by the load of all channels and ports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <torus/byte_sum.hpp>
#include <torus/machine.hpp>
#include <torus/placement.hpp>

#include "algorithms/common/living_channels.hpp"

namespace torus::total_exchange {

/// Bytes that cross each channel, and that each node sends and receives.
class ChannelLoads {
 public:
  /// The channels must outlive the object.
  ChannelLoads(const LivingChannels& channels, int ports)
      : channels_{&channels}, ports_{ports}, over_(channels.count(), 0), out_(channels.nodes(), 0), in_(channels.nodes(), 0) {}

  void add(std::uint32_t channel, ByteSum bytes) noexcept {
    over_[channel] += bytes;
    out_[(*channels_)[channel].from] += bytes;
    in_[(*channels_)[channel].to] += bytes;
  }
  /// Calls f(load) for what limits a channel: its own load, and where ports are short that of a port at either end.
  template <class F>
  void each(std::uint32_t channel, F&& f) const {
    f(over_[channel]);
    const auto& [from, to, leg] = (*channels_)[channel];
    if (short_of_ports(from)) f(out_[from] / ports_);
    if (short_of_ports(to)) f(in_[to] / ports_);
  }

 private:
  bool short_of_ports(NodeId node) const noexcept { return channels_->count_of(node) > static_cast<std::uint32_t>(ports_); }

  const LivingChannels* channels_;
  int ports_;
  std::vector<ByteSum> over_, out_, in_;
};

/// A block that must get from one node to another.
struct Delivery {
  NodeId from, to;
  BlockId id;
  Bytes bytes;
};

/// One for each block and each other node that wants it. A block starts at one node. Where sizes differ, blocks of no bytes have none.
std::vector<Delivery> deliveries(const Placement& placement);

/// A shortest way for each delivery, found one after the other: the one whose channels, with what all others put on them, are the
/// emptiest. All are found anew a few times, the largest first. Deterministic.
///
/// What a channel costs one more block is a high power of its load, so that the fullest channels decide between two ways.
/// Source: prices that grow steeply with the load: Aspnes, Azar, Fiat, Plotkin & Waarts, "On-line routing of virtual circuits", 1997.
class BalancedWays {
 public:
  /// Channels and deliveries must outlive the object.
  BalancedWays(const Machine& machine, const LivingChannels& channels, const std::vector<Delivery>& deliveries);

  /// The channels that a delivery crosses, in their order.
  std::span<const std::uint32_t> of(std::size_t delivery) const noexcept {
    return {channels_of_.data() + first_[delivery], first_[delivery + 1] - first_[delivery]};
  }
  const LivingChannels& channels() const noexcept { return channels_; }
  const std::vector<Delivery>& deliveries() const noexcept { return deliveries_; }
  const ChannelLoads& loads() const noexcept { return loads_; }

 private:
  std::vector<std::size_t> order() const;
  void load(std::size_t delivery, int sign);
  double price(std::uint32_t channel, Bytes bytes) const;
  void find(std::size_t number);

  const LivingChannels& channels_;
  const std::vector<Delivery>& deliveries_;
  ChannelLoads loads_;
  double mean_ = 1;                              // bytes over a channel
  std::vector<std::vector<std::int32_t>> hops_;  // by destination, then by node
  std::vector<std::size_t> first_;               // by delivery, in channels_of_
  std::vector<std::uint32_t> channels_of_;
  // What one search keeps:
  std::vector<double> least_;           // by node
  std::vector<std::uint32_t> came_by_;  // by node
  std::vector<NodeId> reached_, next_;
};

}  // namespace torus::total_exchange
