/// One entry a channel, and the entries of a leg.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <torus/error.hpp>
#include <torus/machine.hpp>
#include <torus/route.hpp>
#include <torus/topology.hpp>

#include "runtime/base/region.hpp"
#include "runtime/engine/processes/slab.hpp"
#include "runtime/engine/workers/atomics.hpp"
#include "runtime/model/channel.hpp"

namespace torus::detail {

inline constexpr NodeId no_node = 0xffffffff;
inline constexpr std::uint32_t no_channel = 0xffffffff;

/// The step of the last claim of a channel, and what the channel has carried so far.
template <class Atomics>
class BasicChannelEntry {
 public:
  std::uint32_t stamp;  ///< 1 + the step of the last claim in this run, or 0; no_channel if there is none
  union {
    NodeId to;                   ///< under packet switching: the node at its other end, or no_node if there is no such channel
    std::uint32_t remote_stamp;  ///< else: like `stamp`, which then counts claims by its owner only
  };

  Bytes bytes() const noexcept { return word() & ~(~std::uint64_t{0} << owner_shift); }  ///< carried so far
  /// No message may claim it. Any worker, while others claim it.
  bool dead() noexcept { return Ref32(stamp).load(std::memory_order_relaxed) == no_channel; }
  /// For the claimant. Other workers may call owner() meanwhile.
  void carry(Bytes bytes) noexcept { Ref64(owner_and_bytes_).store(word() + bytes, std::memory_order_relaxed); }
  /// Like carry(), while no other worker calls owner().
  void carry_alone(Bytes bytes) noexcept { owner_and_bytes_ += bytes; }
  /// The worker that claims it most.
  std::uint32_t owner() const noexcept { return static_cast<std::uint32_t>(word() >> owner_shift); }
  void begin(std::uint32_t owner) noexcept { owner_and_bytes_ = std::uint64_t{owner} << owner_shift; }

  // Where any worker can claim the channel, it bids for channels, calls bids_made(), and then asks which it has won. Of two workers that
  // bid for the same channel at least one sees the other's bid: neither looks before its own bid is visible. A compare-and-swap for each
  // channel would do too, but takes as long as some 20 other instructions. Here only remote workers need one, since they may be several.
  //
  // Bids are relaxed: what they order is in bids_made(), and who bids twice is settled by the order of writes to one stamp. The gate
  // publishes the stamps of a step to the next.

  /// False if this worker has bid for the channel before, in the step of a stamp, or if another remote worker has and this one is remote.
  bool bid(std::uint32_t worker, std::uint32_t now) noexcept {
    const bool own = owner() == worker;
    Ref32 bids(own ? stamp : remote_stamp);
    std::uint32_t seen = bids.load(std::memory_order_relaxed);
    if (seen == now) return false;
    if (!own) return bids.compare_exchange_strong(seen, now, std::memory_order_relaxed);
    bids.store(now, std::memory_order_relaxed);
    return true;
  }
  /// Between the bids of any number of messages and their win(). Pairs with the same call of every other worker that bids: of two such
  /// fences one comes first, and the worker of the other sees the bids before it.
  static void bids_made() noexcept { Atomics::fence(std::memory_order_seq_cst); }
  /// Whether a bid holds, and then claims the channel.
  bool win(std::uint32_t worker, std::uint32_t now, Bytes bytes) noexcept {
    Ref32 other(owner() == worker ? remote_stamp : stamp);
    if (other.load(std::memory_order_relaxed) == now) return false;
    carry(bytes);  // ours alone until the barrier
    return true;
  }

 private:
  using Ref32 = typename Atomics::template Ref<std::uint32_t>;
  using Ref64 = typename Atomics::template Ref<std::uint64_t>;
  static constexpr unsigned owner_shift = 48;  // more bytes than a run copies, and there are no 65536 workers

  std::uint64_t word() const noexcept {
    // std::atomic_ref takes no const object before C++26.
    return Ref64(const_cast<std::uint64_t&>(owner_and_bytes_)).load(std::memory_order_relaxed);
  }

  std::uint64_t owner_and_bytes_;
};

using ChannelEntry = BasicChannelEntry<StandardAtomics>;

/// Under packet switching a node claims only its own channels: the entries of a node lie together and need no atomic operation. Otherwise
/// the entries of a line and direction lie together, so that a route walks through memory in order. Long lines are an odd number of cache
/// lines apart: at a power of 2 the entries of neighbouring lines would fall into a few sets of the cache and evict each other. Routes of
/// other nodes cross too, on other workers: see ChannelEntry::bid().
///
/// The table names the channels of the whole machine, and of a slab only its own nodes' channels are used, so that the kernel provides
/// memory for these alone. Lines that cross slabs do not lie in order therefore, but by node.
class ChannelTable {
 public:
  explicit ChannelTable(const Machine& machine) : ChannelTable(machine, Slab(machine.topology)) {}
  ChannelTable(const Machine& machine, const Slab& own)
      : topology_{&machine.topology},
        by_node_{machine.switching == Switching::packet},
        ends_at_border_{by_node_ && machine.contention == Contention::forbid},
        slots_{static_cast<std::uint32_t>(machine.topology.channel_slots())},
        nodes_{machine.topology.nodes()},
        entries_(entries_for(machine)),
        own_{own} {
    const Topology& topology = machine.topology;
    std::size_t first = 0;
    for (Dimension d = 0; d < topology.dimensions(); ++d) {
      const auto n = static_cast<std::uint32_t>(topology.extent(d));
      const auto stride = static_cast<NodeId>(topology.stride(d));
      const Wiring wiring = topology.wiring(d);
      Axis axis{Divisor(stride),
                Divisor(stride * n),
                n,
                wiring == Wiring::ring && n > 1 ? static_cast<std::uint32_t>(topology.circle(d)) : n - 1,
                static_cast<std::uint32_t>(topology.first_slot(d)),
                slots_of(topology, d),
                wiring,
                {}};
      if (by_node_) {
        const std::size_t pitch = std::size_t{stride} * slots_;
        axis.entries = {axis.first_slot, 1, pitch * n, slots_, pitch};
      } else if (own_.cuts(d)) {
        axis.entries = {first, nodes_, std::size_t{stride} * n, 1, stride};
        first += axis.entries.slot * axis.slots;
      } else {
        const std::size_t line = line_pitch(topology, d);
        axis.entries = {first, slot_pitch(topology, d), line * stride, line, 1};
        first += axis.entries.slot * axis.slots;
      }
      axes_.push_back(axis);
    }
  }

  /// With the gaps between lines.
  static std::size_t entries_for(const Machine& machine) noexcept {
    const Topology& topology = machine.topology;
    if (machine.switching == Switching::packet) return std::size_t{topology.nodes()} * static_cast<std::size_t>(topology.channel_slots());
    std::size_t entries = 0;
    for (Dimension d = 0; d < topology.dimensions(); ++d) entries += slots_of(topology, d) * slot_pitch(topology, d);
    return entries;
  }
  std::size_t entries() const noexcept { return entries_.size(); }

  /// Fills in the other ends of part `part` of `parts` of the channels, for packet switching; loads are 0 as the kernel gave them.
  void make(unsigned part, unsigned parts) {
    if (!by_node_) {
      if (own_.whole()) entries_.populate(entries_.size(), part, parts);
      return;
    }
    const Topology& topology = *topology_;
    const NodeId end = own_.part_begin(part + 1, parts);
    for (NodeId node = own_.part_begin(part, parts); node < end; ++node) {
      ChannelEntry* entry = entries_.data() + std::size_t{node} * slots_;
      for (Dimension d = 0; d < topology.dimensions(); ++d) {
        const std::int32_t n = topology.extent(d);
        if (topology.wiring(d) == Wiring::complete) {
          for (std::int32_t offset = 1; offset < n; ++offset) begin_channel(*entry++, *topology.neighbour(node, d, offset));
        } else if (n > 1) {
          for (const std::int32_t hop : {+1, -1}) begin_channel(*entry++, topology.neighbour(node, d, hop).value_or(no_node));
        }
      }
    }
  }
  /// Marks a dead channel, after make(): no message may claim it.
  void kill(NodeId node, Dimension d, std::int32_t direction) noexcept {
    static_cast<void>(walk(node, {d, direction}, [](ChannelEntry& entry) { entry.stamp = no_channel; }));
  }

  /// Forgets what part `part` of `parts` of the channels have carried, and when. Worker `part` owns them from now on.
  void clear(unsigned part, unsigned parts) noexcept {
    each_of_part(part, parts, [this, part](ChannelEntry& entry) {
      entry.begin(part);
      if (!by_node_) entry.remote_stamp = 0;
      if (entry.stamp != no_channel) entry.stamp = 0;
    });
  }
  /// Calls f(entry) for the channels of part `part` of `parts`, each in one part: as far as they lie in order, those of the same part of
  /// the nodes, so that they are in the cache of the worker that claims them.
  template <class F>
  void each_of_part(unsigned part, unsigned parts, F&& f) noexcept {
    // `count` channels in lines of n
    const auto each = [&](ChannelEntry* first, std::uint64_t count, std::uint64_t n, std::size_t pitch) {
      const std::uint64_t end = count * (part + 1) / parts;
      for (std::uint64_t i = count * part / parts; i < end;) {
        ChannelEntry* const line = first + i / n * pitch;
        for (std::uint64_t x = i % n; x < n && i < end; ++x, ++i) f(line[x]);
      }
    };
    if (by_node_) {
      const std::size_t own_entries = std::size_t{own_.nodes()} * slots_;
      return each(of_node(own_.begin()), own_entries, std::max<std::size_t>(1, own_entries), 0);
    }
    if (!own_.whole()) return each_of_nodes(own_.part_begin(part, parts), own_.part_begin(part + 1, parts), f);
    for (const Axis& axis : axes_) {
      // Lines of the outermost dimension span all parts of the nodes.
      const bool outermost = axis.block.value() == nodes_ && axis.wiring != Wiring::complete;
      const std::uint32_t n = axis.extent;
      for (std::uint32_t slot = 0; slot < axis.slots; ++slot) {
        ChannelEntry* const first = entries_.data() + axis.entries.first + slot * axis.entries.slot;
        if (!outermost)
          each(first, nodes_, n, axis.entries.line);
        else
          for (std::uint32_t line = 0; line < nodes_ / n; ++line) each(first + line * axis.entries.line, n, n, n);
      }
    }
  }

  /// Calls f(entry) for the channels of a route that are the slab's, in order. The machine must have them all.
  template <class F>
  void each_own(NodeId from, RouteView route, F&& f) noexcept {
    if (own_.whole()) {
      for (const Leg& leg : route) from = walk(from, leg, f).node;
      return;
    }
    each_channel(*topology_, from, route, [&](const ChannelName& channel) {
      if (own_.owns(channel.from)) walk(channel.from, {channel.dimension, channel.hop}, f);
    });
  }

  /// The channels out of a node by their slots, for machines with packet switching.
  ChannelEntry* of_node(NodeId node) noexcept { return entries_.data() + std::size_t{node} * slots_; }

  /// Prefetches the channels out of a node, where they lie together.
  [[gnu::always_inline]] void prefetch(NodeId node) const noexcept {
    if (by_node_) __builtin_prefetch(entries_.data() + std::size_t{node} * slots_);
  }

  /// Claims a channel of the slab for a message from another one, between two steps. False if another message of the step has it.
  static bool claim_late(ChannelEntry& entry, std::uint32_t now, Bytes bytes) noexcept {
    if (entry.stamp == now || entry.remote_stamp == now) return false;
    entry.stamp = now;
    entry.carry_alone(bytes);
    return true;
  }
  /// Whether a channel has been claimed in this run.
  bool used(const ChannelEntry& entry) const noexcept {
    return by_node_ ? entry.stamp != 0 && entry.stamp != no_channel : entry.stamp != no_channel && (entry.stamp | entry.remote_stamp) != 0;
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
    TORUS_ASSERT(leg.hops != 0 && static_cast<std::size_t>(leg.dimension) < axes_.size());
    const Axis& axis = axes_[static_cast<std::size_t>(leg.dimension)];
    const bool back = leg.hops < 0;
    const auto hops = static_cast<std::uint32_t>(leg.hops);
    const std::uint32_t length = back ? 0 - hops : hops;
    if (length > axis.max_hops) return {no_node, 0};
    // The ranks of `stride` lines that lie side by side are a block.
    const NodeId stride = axis.stride.value();
    const std::uint32_t n = axis.extent;
    const std::uint32_t block = axis.block.divide(from);
    const NodeId in_block = from - block * axis.block.value();
    const std::uint32_t x = axis.stride.divide(in_block);
    std::uint32_t end = x + hops;
    if (end >= n) {
      if (axis.wiring == Wiring::line) return {no_node, 0};
      if (topology_->twisted()) return walk_over_the_end(from, leg, f);
      end += back ? n : 0 - n;
    }
    const NodeId to = from + (end - x) * stride;
    // The channel of the node of the line with coordinate 0, and the distance in memory between those of neighbours.
    ChannelEntry* first = entries_.data() + axis.entries.first + block * axis.entries.block + (in_block - x * stride) * axis.entries.line;
    const auto pitch = static_cast<std::ptrdiff_t>(axis.entries.neighbour);
    if (axis.wiring == Wiring::complete) {
      if (back) return {no_node, 0};
      f(first[static_cast<std::ptrdiff_t>((length - 1) * axis.entries.slot) + pitch * static_cast<std::ptrdiff_t>(x)]);
      return {to, axis.first_slot + length - 1};
    }
    if (back) first += axis.entries.slot;
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

  /// The same of a leg of a twisted torus: over the end of a dimension it may go on in another line.
  template <class F>
  [[gnu::noinline]] End walk_over_the_end(NodeId from, Leg leg, F&& f) noexcept {
    const Axis& axis = axes_[static_cast<std::size_t>(leg.dimension)];
    const std::int32_t hop = leg.hops < 0 ? -1 : 1;
    const std::uint32_t slot = hop < 0 ? 1U : 0U;
    for (std::int32_t done = 0; done != leg.hops; done += hop) {
      f(entry_of(axis, slot, from));
      from = *topology_->neighbour(from, leg.dimension, hop);
    }
    return {from, axis.first_slot + slot};
  }

  /// Claims a channel for one message in the step of a stamp, where only the calling worker can claim it. False if another message has it
  /// or there is none.
  static bool claim_own(ChannelEntry& entry, std::uint32_t now, Bytes bytes) noexcept {
    if (entry.stamp >= now) return false;
    entry.stamp = now;
    entry.carry_alone(bytes);
    return true;
  }

 private:
  /// Where the channels of a dimension are: the first of all, and distances between those of neighbours and of corresponding nodes of other
  /// slots, blocks and lines of a block.
  struct Layout {
    std::size_t first, slot, block, line, neighbour;
  };
  struct Axis {
    Divisor stride;
    Divisor block;  // stride * extent
    std::uint32_t extent;
    std::uint32_t max_hops;  // of a leg
    std::uint32_t first_slot;
    std::uint32_t slots;
    Wiring wiring;
    Layout entries;
  };

  /// Its other end, no_node if there is no such channel. No claim to a channel that leaves the slab succeeds: the border takes them.
  void begin_channel(ChannelEntry& entry, NodeId to) const noexcept {
    entry.to = to;
    if (to == no_node || (ends_at_border_ && !own_.owns(to))) entry.stamp = no_channel;
  }
  template <class F>
  void each_of_nodes(NodeId first, NodeId end, F& f) noexcept {
    for (const Axis& axis : axes_) {
      for (std::uint32_t slot = 0; slot < axis.slots; ++slot) {
        for (NodeId node = first; node < end; ++node) f(entry_of(axis, slot, node));
      }
    }
  }
  ChannelEntry& entry_of(const Axis& axis, std::uint32_t slot, NodeId node) noexcept {
    const std::uint32_t block = axis.block.divide(node);
    const NodeId in_block = node - block * axis.block.value();
    const std::uint32_t x = axis.stride.divide(in_block);
    return entries_[axis.entries.first + slot * axis.entries.slot + block * axis.entries.block +
                    (in_block - x * axis.stride.value()) * axis.entries.line + x * axis.entries.neighbour];
  }

  static std::uint32_t slots_of(const Topology& topology, Dimension d) noexcept {
    const bool last = d + 1 == topology.dimensions();
    return static_cast<std::uint32_t>((last ? topology.channel_slots() : topology.first_slot(d + 1)) - topology.first_slot(d));
  }
  /// From line to line. A line of 32 k nodes is followed by an unused cache line.
  static std::size_t line_pitch(const Topology& topology, Dimension d) noexcept {
    const auto n = static_cast<std::size_t>(topology.extent(d));
    return n % 32 == 0 && topology.wiring(d) != Wiring::complete ? n + 64 / sizeof(ChannelEntry) : n;
  }
  /// From slot to slot: all lines of the dimension.
  static std::size_t slot_pitch(const Topology& topology, Dimension d) noexcept {
    return line_pitch(topology, d) * (topology.nodes() / static_cast<std::size_t>(topology.extent(d)));
  }

  const Topology* topology_;
  bool by_node_;
  bool ends_at_border_;
  std::uint32_t slots_;
  NodeId nodes_;
  Region<ChannelEntry> entries_;
  std::vector<Axis> axes_;
  Slab own_;
};

}  // namespace torus::detail
