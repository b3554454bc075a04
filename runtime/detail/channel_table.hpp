// SPDX-License-Identifier: MIT
/// One entry a channel: who claimed it in this step, and what it has carried so far.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/detail/region.hpp"
#include "runtime/machine.hpp"
#include "runtime/route.hpp"
#include "runtime/topology.hpp"

namespace torus::detail {

struct ChannelEntry {
  std::uint32_t stamp;  ///< 1 + the step of the last claim in this run, or 0; no_channel if there is none
  NodeId to;            ///< under packet switching: the node at its other end, or no_node if there is no such channel
  Bytes bytes;          ///< carried so far
};
inline constexpr NodeId no_node = 0xffffffff;
inline constexpr std::uint32_t no_channel = 0xffffffff;

/// Under packet switching a node claims only its own channels: the entries of a node lie together and need no atomic operation. Long routes run
/// along lines: there the entries of a line and direction lie together, so that a route walks through memory in order, and a claim is a
/// compare-and-swap, because routes of other nodes cross too.
class ChannelTable {
 public:
  ChannelTable() = default;
  explicit ChannelTable(const Machine& machine)
      : topology_{&machine.topology},
        by_node_{machine.switching == Switching::packet},
        slots_{static_cast<std::uint32_t>(machine.topology.channel_slots())},
        entries_(std::size_t{machine.topology.nodes()} * slots_) {
    const Topology& topology = machine.topology;
    for (Dimension d = 0; d < topology.dimensions(); ++d) {
      const std::int32_t n = topology.extent(d);
      axes_.push_back({n, topology.wiring(d), topology.stride(d), Divisor(topology.stride(d) * static_cast<std::uint32_t>(n))});
    }
  }

  std::size_t size() const noexcept { return entries_.size(); }
  const ChannelEntry& operator[](std::size_t i) const noexcept { return entries_[i]; }

  /// Fills in the other ends of part `part` of `parts` of the channels, for packet switching; loads are 0 as the kernel gave them.
  void make(unsigned part, unsigned parts) {
    if (!by_node_) return entries_.populate(entries_.size(), part, parts);
    const Topology& topology = *topology_;
    const auto end = static_cast<NodeId>(std::uint64_t{topology.nodes()} * (part + 1) / parts);
    for (auto node = static_cast<NodeId>(std::uint64_t{topology.nodes()} * part / parts); node < end; ++node) {
      ChannelEntry* entry = entries_.data() + std::size_t{node} * slots_;
      for (Dimension d = 0; d < topology.dimensions(); ++d) {
        const std::int32_t n = topology.extent(d);
        if (topology.wiring(d) == Wiring::complete) {
          for (std::int32_t offset = 1; offset < n; ++offset) (entry++)->to = *topology.neighbour(node, d, offset);
        } else if (n > 1) {
          for (const std::int32_t hop : {+1, -1}) {
            entry->to = topology.neighbour(node, d, hop).value_or(no_node);
            if (entry->to == no_node) entry->stamp = no_channel;
            ++entry;
          }
        }
      }
    }
  }
  /// Forgets what the channels have carried, and when.
  void clear() noexcept {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      entries_[i].bytes = 0;
      if (entries_[i].stamp != no_channel) entries_[i].stamp = 0;
    }
  }

  /// The channels out of a node by their slots, for machines with packet switching.
  ChannelEntry* of_node(NodeId node) noexcept { return entries_.data() + std::size_t{node} * slots_; }

  /// Fetches the channels out of a node, where they lie together.
  [[gnu::always_inline]] void prefetch(NodeId node) const noexcept {
    if (by_node_) __builtin_prefetch(entries_.data() + std::size_t{node} * slots_);
  }

  std::size_t index_of(const ChannelEntry& entry) const noexcept { return static_cast<std::size_t>(&entry - entries_.data()); }

  /// Calls f(entry) for each channel of a leg that starts at `from`, whose coordinate there is `x`, in order. The leg must not leave a line.
  template <class F>
  void each(NodeId from, std::int32_t x, const Leg& leg, F&& f) noexcept {
    const Axis& axis = axes_[static_cast<std::size_t>(leg.dimension)];
    const auto slot = static_cast<std::uint32_t>(topology_->slot(leg.dimension, leg.hops));
    if (axis.wiring == Wiring::complete) return f(entries_[index(from, slot)]);
    // The node of the line with coordinate 0, its channel, and the distance in memory between the channels of neighbours on the line.
    const NodeId origin = from - static_cast<NodeId>(x) * axis.stride;
    ChannelEntry* first = entries_.data();
    std::ptrdiff_t pitch = 1;
    if (by_node_) {
      first += index(origin, slot);
      pitch = static_cast<std::ptrdiff_t>(std::size_t{axis.stride} * slots_);
    } else {
      const std::uint32_t before = axis.block.divide(from) * axis.block.value();
      first += std::size_t{slot} * topology_->nodes() + before + std::size_t{origin - before} * static_cast<std::size_t>(axis.extent);
    }
    ChannelEntry* const last = first + pitch * (axis.extent - 1);
    ChannelEntry* entry = first + pitch * x;
    if (leg.hops > 0) {
      for (std::int32_t left = leg.hops; left > 0; --left) {
        f(*entry);
        entry = entry == last ? first : entry + pitch;
      }
    } else {
      for (std::int32_t left = leg.hops; left < 0; ++left) {
        f(*entry);
        entry = entry == first ? last : entry - pitch;
      }
    }
  }

  /// Claims a channel for one message in the step of a stamp. False if another message has it. Any worker.
  static bool claim(ChannelEntry& entry, std::uint32_t now, Bytes bytes) noexcept {
    std::atomic_ref stamp(entry.stamp);
    std::uint32_t seen = stamp.load(std::memory_order_relaxed);
    if (seen == now || !stamp.compare_exchange_strong(seen, now, std::memory_order_relaxed)) return false;
    entry.bytes += bytes;  // ours alone until the barrier
    return true;
  }
  /// The same for a channel that only the calling worker can claim; also false if there is none.
  static bool claim_own(ChannelEntry& entry, std::uint32_t now, Bytes bytes) noexcept {
    if (entry.stamp >= now) return false;
    entry.stamp = now;
    entry.bytes += bytes;
    return true;
  }

 private:
  struct Axis {
    std::int32_t extent;
    Wiring wiring;
    NodeId stride;
    Divisor block;  // nodes of a line and of all lines between its neighbours
  };

  std::size_t index(NodeId node, std::uint32_t slot) const noexcept {
    return by_node_ ? std::size_t{node} * slots_ + slot : std::size_t{slot} * topology_->nodes() + node;
  }

  const Topology* topology_ = nullptr;
  bool by_node_ = false;
  std::uint32_t slots_ = 0;
  Region<ChannelEntry> entries_;
  std::vector<Axis> axes_;
};

}  // namespace torus::detail
