/// Which nodes run in the next step. Cost of a step: the active nodes and a 4096th of the machine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <torus/topology.hpp>

#include "runtime/base/region.hpp"
#include "runtime/engine/workers/atomics.hpp"

namespace torus::detail {

/// Three-level byte set (node, 64 nodes, 4,096 nodes), replicated per worker to avoid false sharing: groups of nodes are written in every
/// step.
class ActiveSet {
 public:
  static constexpr std::uint32_t group_nodes = 64;

  /// The nodes that one worker has inserted.
  class Part {
   public:
    explicit Part(NodeId nodes) : nodes_(padded(nodes)), groups_(padded(nodes_.size() / 64)), upper_(padded(groups_.size() / 64)) {}

    /// Between two barriers. True if this worker has not put it in before.
    [[gnu::always_inline]] bool insert(NodeId node) noexcept {
      if (nodes_[node] != 0) return false;
      nodes_[node] = 1;
      if (groups_[node >> 6U] == 0) {
        groups_[node >> 6U] = 1;
        upper_[node >> 12U] = 1;
      }
      return true;
    }
    [[gnu::always_inline]] void prefetch(NodeId node) const noexcept { __builtin_prefetch(nodes_.data() + node, 1); }

   private:
    friend class ActiveSet;
    Region<std::uint8_t> nodes_, groups_, upper_;
  };

  /// A group that holds an active node, and the workers that have put one in: bit i stands for worker i, i + 32, ..
  struct Group {
    std::uint32_t number;
    std::uint32_t workers;
  };

  ActiveSet() = default;
  ActiveSet(NodeId nodes, unsigned workers) {
    for (unsigned i = 0; i < workers; ++i) parts_.emplace_back(nodes);
  }

  static std::size_t bytes_for(NodeId nodes, unsigned workers) noexcept { return workers * (padded(nodes) + padded(padded(nodes) / 64)); }

  Part& part(unsigned worker) noexcept { return parts_[worker]; }

  /// Moves the groups that hold an active node to `out`, ascending, and forgets the groups. workers: how many may have put one in, the
  /// first ones. One thread, after the barrier.
  void take_groups(unsigned workers, std::vector<Group>& out) {
    const std::span<Part> parts = std::span(parts_).first(workers);
    out.clear();
    const std::size_t size = parts_.front().upper_.size();
    for (std::size_t at = 0; at < size; at += 8) {
      std::uint64_t upper = 0;
      for (Part& part : parts) upper |= take_word(part.upper_, at);
      each_set_byte(upper, [&](std::size_t i) {
        for (std::size_t group = 64 * (at + i); group < 64 * (at + i + 1); group += 8) take_groups_of_word(parts, group, out);
      });
    }
  }

  /// Forgets all, also where a step has been left half way. Only nodes from `first` to `end` may be in it. One thread.
  void clear(NodeId first, NodeId end) noexcept {
    for (Part& part : parts_) {
      std::memset(part.nodes_.data() + first, 0, end - first);
      std::memset(part.groups_.data() + first / 64, 0, (end - 1) / 64 - first / 64 + 1);
      std::memset(part.upper_.data(), 0, part.upper_.size());
    }
  }

  [[gnu::always_inline]] void prefetch(Group group) noexcept {
    each_part(group, [&](const Part& part) { __builtin_prefetch(part.nodes_.data() + std::size_t{64} * group.number, 1); });
  }
  /// Writes the active nodes of a group, ascending, to `out`, where there is room for group_nodes, and forgets them; returns the end. One
  /// thread a group.
  NodeId* take_nodes(Group group, NodeId* out) noexcept {
    constexpr std::uint64_t all = 0x0101010101010101U;
    for (NodeId at = 0; at < group_nodes; at += 8) {
      const NodeId first = group_nodes * group.number + at;
      std::uint64_t word = 0;
      each_part(group, [&](Part& part) { word |= take_word(part.nodes_, first); });
      if (word == all) {
        for (NodeId i = 0; i < 8; ++i) *out++ = first + i;
      } else {
        each_set_byte(word, [&](std::size_t i) { *out++ = first + static_cast<NodeId>(i); });
      }
    }
    return out;
  }

 private:
  static std::size_t padded(std::size_t n) noexcept { return (n + 63) / 64 * 64; }

  /// 8 bytes, which are 0 from now on. Read first: what is 0 need not be fetched for writing.
  static std::uint64_t take_word(Region<std::uint8_t>& bytes, std::size_t at) noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, 8);
    if (word != 0) std::memset(bytes.data() + at, 0, 8);
    return word;
  }
  static std::uint32_t bit_of(std::size_t worker) noexcept { return 1U << (worker % 32); }

  static void take_groups_of_word(std::span<Part> parts, std::size_t first, std::vector<Group>& out) {
    std::array<std::uint32_t, 8> workers{};
    std::uint64_t any = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::uint64_t word = take_word(parts[i].groups_, first);
      any |= word;
      each_set_byte(word, [&](std::size_t byte) { workers[byte] |= bit_of(i); });
    }
    each_set_byte(any, [&](std::size_t byte) { out.push_back({static_cast<std::uint32_t>(first + byte), workers[byte]}); });
  }
  template <class F>
  [[gnu::always_inline]] void each_part(Group group, F&& f) {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if ((group.workers & bit_of(i)) != 0) f(parts_[i]);
    }
  }

  std::vector<Part> parts_;
};

}  // namespace torus::detail
