/// One entry a channel: the step of its last claim, and what it has carried so far.
#pragma once

#include <cstdint>

#include <torus/machine.hpp>
#include <torus/topology.hpp>

#include "runtime/engine/atomics.hpp"

namespace torus::detail {

inline constexpr NodeId no_node = 0xffffffff;
inline constexpr std::uint32_t no_channel = 0xffffffff;

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
  /// The same where nobody does.
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

}  // namespace torus::detail
