/// Flags that say which in-channels of a node have something.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <torus/machine.hpp>

#include "runtime/engine/atomics.hpp"
#include "runtime/engine/region.hpp"
#include "runtime/engine/set_bytes.hpp"

namespace torus::detail {

/// A byte an in-channel, for messages sent in even and in odd steps apart: a receiver looks at those queues only that have something for
/// it, and a fast neighbour that sends the next step's message already raises another flag. Bytes, not bits, so that raising is a plain
/// store. Raising has no order: the gate publishes all that a step has raised.
template <class Atomics>
class BasicArrivalFlags {
 public:
  BasicArrivalFlags() = default;
  BasicArrivalFlags(NodeId nodes, std::size_t channels)
      : pitch_{pitch_for(channels)},
        channels_{channels},
        every_{channels >= 1 && channels <= 8 ? std::uint64_t{0x0101010101010101} >> (64 - 8 * channels) : no_word},
        flags_{Region<std::uint8_t>(nodes * pitch_), Region<std::uint8_t>(nodes * pitch_)} {}

  static std::size_t bytes_each(std::size_t channels) noexcept { return 2 * pitch_for(channels); }

  /// Starts a step: flags raised in the last one can be read.
  void begin_step(Step now) noexcept {
    raised_ = flags_[now & 1U].data();
    seen_ = flags_[(now + 1) & 1U].data();
  }

  /// Any worker.
  void raise(NodeId node, std::uint32_t channel) noexcept {
    typename Atomics::template Ref<std::uint8_t>(raised_[node * pitch_ + channel]).store(1, std::memory_order_relaxed);
  }
  /// The same for what was sent in the step before, and has been taken or comes late. Between two steps.
  void raise_again(NodeId node, std::uint32_t channel) noexcept { seen_[node * pitch_ + channel] = 1; }
  [[gnu::always_inline]] void prefetch(NodeId node) const noexcept { __builtin_prefetch(raised_ + node * pitch_, 1); }
  /// What follows is for the worker that runs the node, and says what was raised in the step before.
  bool any(NodeId node) const noexcept { return all(node) != 0; }
  /// True if several channels have something; may be false when there are more than 8.
  bool several(NodeId node) const noexcept {
    const std::uint64_t set = all(node);
    return (set & (set - 1)) != 0;
  }
  /// Calls f(channel) for the flags of a node, ascending.
  template <class F>
  void each(NodeId node, F&& f) const {
    for (std::size_t at = 0; at < pitch_; at += 8) each_set_byte(word(node, at), [&](std::size_t i) { f(at + i); });
  }
  /// The same, and lowers them. Where every channel has something none is searched for.
  template <class F>
  [[gnu::always_inline]] void take(NodeId node, F&& f) {
    std::uint8_t* const flags = seen_ + node * pitch_;
    std::size_t at = 0;
    do {
      const std::uint64_t set = Atomics::read_word(flags + at);
      Atomics::clear_word(flags + at);
      if (set == every_) {
        for (std::size_t i = 0; i < channels_; ++i) f(i);
        return;
      }
      each_set_byte(set, [&](std::size_t i) { f(at + i); });
      at += 8;
    } while (at < pitch_);
  }
  /// Forgets what was raised in any step.
  void clear(NodeId node) noexcept {
    for (Region<std::uint8_t>& flags : flags_) std::memset(flags.data() + node * pitch_, 0, pitch_);
  }

 private:
  static constexpr std::uint64_t no_word = ~std::uint64_t{0};  // of flags
  static std::size_t pitch_for(std::size_t channels) noexcept { return std::max<std::size_t>(8, (channels + 7) / 8 * 8); }
  std::uint64_t all(NodeId node) const noexcept {
    std::uint64_t set = word(node, 0);
    for (std::size_t at = 8; at < pitch_; at += 8) set |= word(node, at);
    return set;
  }
  std::uint64_t word(NodeId node, std::size_t at) const noexcept { return Atomics::read_word(seen_ + node * pitch_ + at); }

  std::size_t pitch_ = 0;
  std::size_t channels_ = 0;
  std::uint64_t every_ = no_word;   // flag of a node is raised
  Region<std::uint8_t> flags_[2];   // by parity of the step in which they are raised
  std::uint8_t* raised_ = nullptr;  // in the present step
  std::uint8_t* seen_ = nullptr;    // in the one before
};

using ArrivalFlags = BasicArrivalFlags<StandardAtomics>;

}  // namespace torus::detail
