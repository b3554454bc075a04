/// What is broken on a machine: dead links, dead nodes, slow links.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace torus {

/// A node's rank: row-major, last dimension fastest.
using NodeId = std::uint32_t;
/// A dimension's number, from 0.
using Dimension = std::int32_t;

/// A link, named by one of its two channels: from a node in a dimension, `hop` as a leg has it: +1 or -1; in a complete dimension the
/// offset.
struct Link {
  NodeId node = 0;
  Dimension dimension = 0;
  std::int32_t hop = 0;
  friend bool operator==(const Link&, const Link&) = default;
};

/// Both channels of the link take `factor` times as long for a byte.
struct SlowLink {
  Link link;
  double factor = 1;
  friend bool operator==(const SlowLink&, const SlowLink&) = default;
};

struct Faults {
  std::vector<NodeId> dead_nodes = {};
  std::vector<Link> dead_links = {};
  std::vector<SlowLink> slow_links = {};

  bool empty() const noexcept { return dead_nodes.empty() && dead_links.empty() && slow_links.empty(); }
  friend bool operator==(const Faults&, const Faults&) = default;
};

namespace detail {

/// Faults by node and by channel (node * channel slots + slot), sorted: faults are few.
struct FaultTable {
  Faults faults;                                          ///< as given, sorted
  std::vector<std::uint64_t> dead_channels;               ///< also all channels to and from dead nodes
  std::vector<std::pair<std::uint64_t, double>> factors;  ///< of slow channels
};

}  // namespace detail
}  // namespace torus
