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

class ChannelEntry {
 public:
  std::uint32_t stamp;  ///< 1 + the step of the last claim in this run, or 0; no_channel if there is none
  union {
    NodeId to;                     ///< under packet switching: the node at its other end, or no_node if there is no such channel
    std::uint32_t strangers_stamp; ///< else: like `stamp`, which is then of claims by its home only
  };

  Bytes bytes() const noexcept { return word() & ~(~std::uint64_t{0} << home_shift); }  ///< carried so far
  /// By whoever has claimed it. Others may ask meanwhile where its home is.
  void carry(Bytes bytes) noexcept { std::atomic_ref(home_and_bytes_).store(word() + bytes, std::memory_order_relaxed); }
  /// The worker that claims it most.
  std::uint32_t home() const noexcept { return static_cast<std::uint32_t>(word() >> home_shift); }
  void begin(std::uint32_t home) noexcept { home_and_bytes_ = std::uint64_t{home} << home_shift; }

 private:
  static constexpr unsigned home_shift = 48;  // more bytes than a run copies, and there are no 65536 workers

  std::uint64_t word() const noexcept { return std::atomic_ref(const_cast<std::uint64_t&>(home_and_bytes_)).load(std::memory_order_relaxed); }

  std::uint64_t home_and_bytes_;
};
inline constexpr NodeId no_node = 0xffffffff;
inline constexpr std::uint32_t no_channel = 0xffffffff;

/// Under packet switching a node claims only its own channels: the entries of a node lie together and need no atomic operation. Long routes run
/// along lines: there the entries of a line and direction lie together, so that a route walks through memory in order. Routes of other nodes cross too,
/// on other workers: see bid().
class ChannelTable {
 public:
  ChannelTable() = default;
  explicit ChannelTable(const Machine& machine)
      : topology_{&machine.topology},
        by_node_{machine.switching == Switching::packet},
        slots_{static_cast<std::uint32_t>(machine.topology.channel_slots())},
        nodes_{machine.topology.nodes()},
        entries_(std::size_t{machine.topology.nodes()} * slots_) {
    const Topology& topology = machine.topology;
    for (Dimension d = 0; d < topology.dimensions(); ++d) {
      const std::int32_t n = topology.extent(d);
      const auto extent = static_cast<std::uint32_t>(n);
      const auto stride = static_cast<NodeId>(topology.stride(d));
      const auto slot = static_cast<std::uint32_t>(topology.first_slot(d));
      axes_.push_back({Divisor(stride), Divisor(stride * extent), extent, topology.wiring(d) == Wiring::ring && n > 1 ? extent : extent - 1, slot,
                       topology.wiring(d), by_node_ ? std::size_t{stride} * slots_ : 1, {index(0, slot), index(0, slot + 1)}});
    }
  }

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
  /// Forgets what part `part` of `parts` of the channels have carried, and when. Worker `part` is at home in it.
  void clear(unsigned part, unsigned parts) noexcept {
    each_of_part(part, parts, [this, part](ChannelEntry& entry) {
      entry.begin(part);
      if (!by_node_) entry.strangers_stamp = 0;
      if (entry.stamp != no_channel) entry.stamp = 0;
    });
  }
  /// Calls f(entry) for the channels of part `part` of `parts`, each in one part: as far as they lie in order, those of the same part of the nodes, so
  /// that they are in the cache of who claims them.
  template <class F>
  void each_of_part(unsigned part, unsigned parts, F&& f) noexcept {
    const auto each = [&](ChannelEntry* run, std::uint64_t n) {
      for (std::uint64_t i = n * part / parts; i < n * (part + 1) / parts; ++i) f(run[i]);
    };
    if (by_node_) return each(entries_.data(), entries_.size());
    for (std::uint32_t slot = 0, d = 0; slot < slots_; ++slot) {
      while (d + 1 < axes_.size() && slot >= axes_[d + 1].first_slot) ++d;
      ChannelEntry* const first = entries_.data() + std::size_t{slot} * nodes_;
      const std::uint32_t n = axes_[d].extent;
      // Lines of the outermost dimension span all parts of the nodes.
      const bool outermost = axes_[d].block.value() == nodes_ && axes_[d].wiring != Wiring::complete;
      const std::uint32_t run = outermost ? n : nodes_;
      for (std::uint32_t at = 0; at < nodes_; at += run) each(first + at, run);
    }
  }

  /// The channels out of a node by their slots, for machines with packet switching.
  ChannelEntry* of_node(NodeId node) noexcept { return entries_.data() + std::size_t{node} * slots_; }

  /// Fetches the channels out of a node, where they lie together.
  [[gnu::always_inline]] void prefetch(NodeId node) const noexcept {
    if (by_node_) __builtin_prefetch(entries_.data() + std::size_t{node} * slots_);
  }

  /// Whether a channel has been claimed in this run.
  bool used(const ChannelEntry& entry) const noexcept {
    return by_node_ ? entry.stamp != 0 && entry.stamp != no_channel : (entry.stamp | entry.strangers_stamp) != 0;
  }
  std::size_t index_of(const ChannelEntry& entry) const noexcept { return static_cast<std::size_t>(&entry - entries_.data()); }

  /// Where a leg ends: the node, and the slot of the in-channel; no_node where the machine has no such leg.
  struct End {
    NodeId node;
    std::uint32_t slot;
  };
  /// Calls f(entry) for each channel of a leg from a node, in order. The dimension must exist and the hops must not be 0.
  template <class F>
  [[gnu::always_inline]] inline End walk(NodeId from, Leg leg, F&& f) noexcept {
    const Axis& axis = axes_[static_cast<std::size_t>(leg.dimension)];
    const bool back = leg.hops < 0;
    const auto hops = static_cast<std::uint32_t>(leg.hops);
    const std::uint32_t length = back ? 0 - hops : hops;
    if (length > axis.most_hops) return {no_node, 0};
    // The ranks of `stride` lines that lie side by side are a block.
    const NodeId stride = axis.stride.value();
    const std::uint32_t n = axis.extent;
    const NodeId block = axis.block.divide(from) * axis.block.value();
    const std::uint32_t x = axis.stride.divide(from - block);
    std::uint32_t end = x + hops;
    if (end >= n) {
      if (axis.wiring == Wiring::line) return {no_node, 0};
      end += back ? n : 0 - n;
    }
    const NodeId to = from + (end - x) * stride;
    if (axis.wiring == Wiring::complete) {
      if (back) return {no_node, 0};
      const std::uint32_t slot = axis.first_slot + length - 1;
      f(entries_[index(from, slot)]);
      return {to, slot};
    }
    // The channel of the node of the line with coordinate 0, and the distance in memory between those of neighbours.
    const std::uint32_t lane = from - block - x * stride;
    ChannelEntry* const first = entries_.data() + axis.first[back] + (by_node_ ? std::size_t{block + lane} * slots_ : block + lane * n);
    const auto pitch = static_cast<std::ptrdiff_t>(axis.pitch);
    ChannelEntry* const last = first + pitch * static_cast<std::ptrdiff_t>(n - 1);
    ChannelEntry* entry = first + pitch * static_cast<std::ptrdiff_t>(x);
    if (back) {
      for (std::uint32_t left = length; left > 0; --left) {
        f(*entry);
        entry = entry == first ? last : entry - pitch;
      }
    } else {
      for (std::uint32_t left = length; left > 0; --left) {
        f(*entry);
        entry = entry == last ? first : entry + pitch;
      }
    }
    return {to, axis.first_slot + (back ? 1U : 0U)};
  }

  /// Claims a channel for one message in the step of a stamp, where only the calling worker can claim it. False if another message has it or there is none.
  static bool claim_own(ChannelEntry& entry, std::uint32_t now, Bytes bytes) noexcept {
    if (entry.stamp >= now) return false;
    entry.stamp = now;
    entry.carry(bytes);
    return true;
  }

  // Where any worker can, it bids for channels, calls bids_made(), and then asks which it has won. Of two that bid for the same channel at least one sees
  // the other's bid: neither looks before its own is visible. A compare-and-swap for each channel would do too, but takes as long as some 20 other
  // instructions; here only strangers need one, who may be several.

  /// False if this worker has bid for the channel before, in the step of a stamp, or a stranger has and this worker is one.
  static bool bid(ChannelEntry& entry, std::uint32_t worker, std::uint32_t now) noexcept {
    const bool at_home = entry.home() == worker;
    std::atomic_ref stamp(at_home ? entry.stamp : entry.strangers_stamp);
    std::uint32_t seen = stamp.load(std::memory_order_relaxed);
    if (seen == now) return false;
    if (!at_home) return stamp.compare_exchange_strong(seen, now, std::memory_order_relaxed);
    stamp.store(now, std::memory_order_relaxed);
    return true;
  }
  /// After the bids of any number of messages.
  static void bids_made() noexcept { std::atomic_thread_fence(std::memory_order_seq_cst); }
  /// Whether a bid holds, and then claims the channel.
  static bool win(ChannelEntry& entry, std::uint32_t worker, std::uint32_t now, Bytes bytes) noexcept {
    std::atomic_ref other(entry.home() == worker ? entry.strangers_stamp : entry.stamp);
    if (other.load(std::memory_order_relaxed) == now) return false;
    entry.carry(bytes);  // ours alone until the barrier
    return true;
  }

 private:
  struct Axis {
    Divisor stride;
    Divisor block;            // stride * extent
    std::uint32_t extent;
    std::uint32_t most_hops;  // of a leg
    std::uint32_t first_slot;
    Wiring wiring;
    std::size_t pitch;        // in memory, between the channels of neighbours, where it is one dimension's
    std::size_t first[2];     // index of node 0's channels, + and -
  };

  std::size_t index(NodeId node, std::uint32_t slot) const noexcept {
    return by_node_ ? std::size_t{node} * slots_ + slot : std::size_t{slot} * nodes_ + node;
  }

  const Topology* topology_ = nullptr;
  bool by_node_ = false;
  std::uint32_t slots_ = 0;
  NodeId nodes_ = 0;
  Region<ChannelEntry> entries_;
  std::vector<Axis> axes_;
};

}  // namespace torus::detail
