// SPDX-License-Identifier: MIT
/// Which nodes run in the next step. Cost of a step: the active nodes and a 4096th of the machine.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "runtime/detail/region.hpp"
#include "runtime/topology.hpp"

namespace torus::detail {

/// A set of nodes as one byte a node, one byte a group of 64 nodes, one byte a 64 groups. Bytes, not bits: inserting is then a plain store
/// that any number of threads may do at once, without a locked instruction.
class ActiveSet {
 public:
  static constexpr std::uint32_t group_nodes = 64;

  ActiveSet() = default;
  explicit ActiveSet(NodeId nodes) : nodes_(padded(nodes)), groups_(padded(nodes_.size() / 64)), upper_(padded(groups_.size() / 64)) {}

  static std::size_t bytes_for(NodeId nodes) noexcept { return padded(nodes) + padded(padded(nodes) / 64); }

  /// Any thread, between two barriers. True if this call seems to be the first (two threads may both be told so).
  bool insert(NodeId node) noexcept {
    if (load(nodes_[node]) != 0) return false;
    store(nodes_[node], 1);
    if (load(groups_[node >> 6U]) == 0) {
      store(groups_[node >> 6U], 1);
      store(upper_[node >> 12U], 1);
    }
    return true;
  }

  [[gnu::always_inline]] void prefetch(NodeId node) const noexcept { __builtin_prefetch(nodes_.data() + node, 1); }

  [[gnu::always_inline]] void prefetch_group(std::uint32_t group) const noexcept { __builtin_prefetch(nodes_.data() + std::size_t{64} * group, 1); }

  /// Moves the numbers of the groups that hold an active node to `out`, ascending, and forgets the groups. One thread, after the barrier.
  void take_groups(std::vector<std::uint32_t>& out) {
    out.clear();
    each_set_byte(upper_.data(), upper_.size(), [&](std::size_t upper) {
      upper_[upper] = 0;
      each_set_byte(groups_.data() + 64 * upper, 64, [&](std::size_t i) {
        groups_[64 * upper + i] = 0;
        out.push_back(static_cast<std::uint32_t>(64 * upper + i));
      });
    });
  }

  /// Forgets all, also where a step has been left half way. One thread.
  void clear() noexcept {
    for (Region<std::uint8_t>* bytes : {&nodes_, &groups_, &upper_}) std::memset(bytes->data(), 0, bytes->size());
  }

  /// Calls f(node) for the active nodes of a group, ascending, and forgets them. One thread a group.
  template <class F>
  void take_nodes(std::uint32_t group, F&& f) {
    std::uint8_t* const bytes = nodes_.data() + std::size_t{64} * group;
    for (std::size_t word = 0; word < 64; word += 8) {
      std::uint64_t set = 0;
      std::memcpy(&set, bytes + word, 8);
      if (set == 0) continue;
      std::memset(bytes + word, 0, 8);
      for (; set != 0; set &= set - 1) {  // a byte is 0 or 1: its lowest bit stands for it
        f(static_cast<NodeId>(64 * std::size_t{group} + word + static_cast<std::size_t>(std::countr_zero(set)) / 8));
      }
    }
  }

 private:
  static std::size_t padded(std::size_t n) noexcept { return (n + 63) / 64 * 64; }
  static std::uint8_t load(std::uint8_t& byte) noexcept { return std::atomic_ref(byte).load(std::memory_order_relaxed); }
  static void store(std::uint8_t& byte, std::uint8_t value) noexcept { std::atomic_ref(byte).store(value, std::memory_order_relaxed); }

  template <class F>
  static void each_set_byte(const std::uint8_t* bytes, std::size_t count, F&& f) {
    for (std::size_t word = 0; word < count; word += 8) {
      std::uint64_t set = 0;
      std::memcpy(&set, bytes + word, 8);
      for (; set != 0; set &= set - 1) f(word + static_cast<std::size_t>(std::countr_zero(set)) / 8);
    }
  }

  Region<std::uint8_t> nodes_, groups_, upper_;
};

}  // namespace torus::detail
