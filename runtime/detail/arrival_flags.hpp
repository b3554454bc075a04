// SPDX-License-Identifier: MIT
/// By which in-channels of a node something is coming in.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/detail/region.hpp"
#include "runtime/topology.hpp"

namespace torus::detail {

/// A byte an in-channel, for messages sent in even and in odd steps apart: a receiver looks at those queues only that have something for it, and a
/// fast neighbour that sends the next step's message already raises another flag. Bytes, not bits, so that raising is a plain store.
class ArrivalFlags {
 public:
  ArrivalFlags() = default;
  ArrivalFlags(NodeId nodes, std::size_t channels)
      : pitch_{pitch_for(channels)}, flags_{Region<std::uint8_t>(nodes * pitch_), Region<std::uint8_t>(nodes * pitch_)} {}

  static std::size_t bytes_each(std::size_t channels) noexcept { return 2 * pitch_for(channels); }

  /// Any worker. To be read after the barrier.
  void raise(NodeId node, std::uint32_t channel, Step sent) noexcept {
    std::atomic_ref(flags_[sent & 1U][node * pitch_ + channel]).store(1, std::memory_order_relaxed);
  }
  void prefetch(NodeId node, Step sent) const noexcept { __builtin_prefetch(flags_[sent & 1U].data() + node * pitch_, 1); }
  /// What follows is for the worker that runs the node.
  bool any(NodeId node, Step sent) const noexcept { return all(node, sent) != 0; }
  /// True if several channels have something; may be false when there are more than 8.
  bool several(NodeId node, Step sent) const noexcept {
    const std::uint64_t set = all(node, sent);
    return (set & (set - 1)) != 0;
  }
  /// Calls f(channel) for the flags of a node, ascending.
  template <class F>
  void each(NodeId node, Step sent, F&& f) const {
    for (std::size_t at = 0; at < pitch_; at += 8) {
      for (std::uint64_t set = word(node, sent, at); set != 0; set &= set - 1) {  // a byte is 0 or 1: its lowest bit stands for it
        f(at + static_cast<std::size_t>(std::countr_zero(set)) / 8);
      }
    }
  }
  void lower(NodeId node, Step sent) noexcept {
    std::uint8_t* const flags = &flags_[sent & 1U][node * pitch_];
    for (std::size_t at = 0; at < pitch_; at += 8) std::memset(flags + at, 0, 8);
  }

 private:
  static std::size_t pitch_for(std::size_t channels) noexcept { return std::max<std::size_t>(8, (channels + 7) / 8 * 8); }
  std::uint64_t all(NodeId node, Step sent) const noexcept {
    std::uint64_t set = word(node, sent, 0);
    for (std::size_t at = 8; at < pitch_; at += 8) set |= word(node, sent, at);
    return set;
  }
  std::uint64_t word(NodeId node, Step sent, std::size_t at) const noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, &flags_[sent & 1U][node * pitch_ + at], 8);
    return word;
  }

  std::size_t pitch_ = 0;
  Region<std::uint8_t> flags_[2];
};

}  // namespace torus::detail
