/// Classes of blocks: arithmetic with ranks, and how far and when each class travels.
///
/// A *class* delta is, at every node x, the block of x for node x + delta, coordinate by coordinate and modulo the extents; delta too is
/// written as a rank. All nodes of a torus can do the same with a class, so a schedule is stated once, in classes, and each node finds its
/// own blocks by addition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <torus/block.hpp>
#include <torus/machine.hpp>
#include <torus/topology.hpp>

#include "algorithms/common/shapes.hpp"

namespace torus::total_exchange {

/// A block as its present holder x sees it: it belongs to node x + origin and goes to node x + destination, coordinate by coordinate.
struct RelativeBlock {
  NodeId origin = 0;
  NodeId destination = 0;
  friend bool operator==(const RelativeBlock&, const RelativeBlock&) = default;
};

/// The nodes of a topology as a group. Immutable, shared by all nodes. 4 bytes a node and dimension of more than one node.
class Offsets {
 public:
  explicit Offsets(const Topology& topology);

  NodeId nodes() const noexcept { return nodes_; }
  /// x + offset and x - offset, in every coordinate. O(dimensions).
  NodeId plus(NodeId x, NodeId offset) const noexcept {
    const std::uint32_t* a = parts(x);
    const std::uint32_t* b = parts(offset);
    NodeId sum = 0;
    for (std::size_t i = 0; i < turn_.size(); ++i) sum += wrapped(a[i] + b[i], turn_[i]);
    return sum;
  }
  NodeId minus(NodeId x, NodeId offset) const noexcept {
    const std::uint32_t* a = parts(x);
    const std::uint32_t* b = parts(offset);
    NodeId difference = 0;
    for (std::size_t i = 0; i < turn_.size(); ++i) difference += wrapped(a[i] + turn_[i] - b[i], turn_[i]);
    return difference;
  }
  /// The block that the holder x sees so.
  BlockId block(NodeId x, const RelativeBlock& seen) const noexcept {
    const std::uint32_t* a = parts(x);
    const std::uint32_t* o = parts(seen.origin);
    const std::uint32_t* d = parts(seen.destination);
    NodeId origin = 0;
    NodeId destination = 0;
    for (std::size_t i = 0; i < turn_.size(); ++i) {
      origin += wrapped(a[i] + o[i], turn_[i]);
      destination += wrapped(a[i] + d[i], turn_[i]);
    }
    return BlockId{origin} * nodes_ + destination;
  }

  Bytes table_bytes() const noexcept { return parts_.size() * sizeof(std::uint32_t); }

 private:
  static std::uint32_t wrapped(std::uint32_t part, std::uint32_t turn) noexcept { return part >= turn ? part - turn : part; }
  const std::uint32_t* parts(NodeId x) const noexcept { return parts_.data() + std::size_t{x} * turn_.size(); }

  NodeId nodes_;
  std::vector<std::uint32_t> turn_;   // extent * stride of each dimension that has links
  std::vector<std::uint32_t> parts_;  // coordinate * stride in each of them, node by node: their sum is the rank
};

/// The shortest signed hops of each class delta in each dimension of a torus. Ties (classes that go half way round) are shared out between
/// the directions: counted by dimension and group in the order of the classes, the even ones go forwards and the odd ones backwards.
class ClassHops {
 public:
  /// group(delta): which classes travel at the same time, so that among them the directions must balance.
  template <class Group>
  ClassHops(const Topology& topology, Group group) : nodes_{topology.nodes()} {
    hops_.reserve(std::size_t{nodes_} * static_cast<std::size_t>(topology.dimensions()));
    for (Dimension d = 0; d < topology.dimensions(); ++d) {
      const std::int32_t n = topology.extent(d);
      std::vector<std::uint32_t> ties;  // met so far, by group
      for (NodeId delta = 0; delta < nodes_; ++delta) {
        std::int32_t hops = topology.offset(d, 0, topology.coordinate(delta, d));
        if (2 * hops == n) {
          const auto g = static_cast<std::size_t>(group(delta));
          if (g >= ties.size()) ties.resize(g + 1);
          if (ties[g]++ % 2 == 1) hops = -hops;
        }
        hops_.push_back(hops);
      }
    }
  }

  std::int32_t operator()(NodeId delta, Dimension d) const noexcept { return hops_[static_cast<std::size_t>(d) * nodes_ + delta]; }

 private:
  std::size_t nodes_;
  std::vector<std::int32_t> hops_;  // dimension by dimension
};

/// Which class travels in which dimension when, so that every dimension always has something to carry. The classes fall into as many groups
/// as there are dimensions with links: group(delta) = (sum of delta_i) mod k. In stage s = 0..k-1 group g travels in the (g + s) mod k-th
/// of these dimensions.
class Rotation {
 public:
  explicit Rotation(const Topology& topology) : dimensions_{linked_dimensions(topology)}, group_(topology.nodes()) {
    if (dimensions_.empty()) return;
    for (NodeId delta = 0; delta < topology.nodes(); ++delta) {
      std::uint32_t sum = 0;
      for (const Dimension d : dimensions_) sum += static_cast<std::uint32_t>(topology.coordinate(delta, d));
      group_[delta] = sum % groups();
    }
  }

  std::uint32_t groups() const noexcept { return static_cast<std::uint32_t>(dimensions_.size()); }
  std::uint32_t group(NodeId delta) const noexcept { return group_[delta]; }
  Dimension dimension(NodeId delta, std::uint32_t stage) const noexcept { return dimensions_[(group_[delta] + stage) % groups()]; }

 private:
  std::vector<Dimension> dimensions_;
  std::vector<std::uint32_t> group_;
};

/// The displacements of a ring as sums of weights, each taken forwards, backwards or not at all. An immutable value. Weights 1, 3, 9, ..,
/// 3^(L-2) and ceil((n - 3^(L-1))/2), L = ceil(log_3 n), none for n = 1: the last takes the sums of the others, -(3^(L-1)-1)/2 ..
/// (3^(L-1)-1)/2, to both sides, and the three stretches cover the ring.
class TernaryRing {
 public:
  /// +1, -1 or 0 by weight.
  using Digits = std::vector<std::int8_t>;

  /// A ring of n >= 1 places. O(n log n).
  explicit TernaryRing(std::int32_t n);

  std::size_t weights() const noexcept { return weights_.size(); }
  std::int32_t weight(std::size_t i) const noexcept { return weights_[i]; }
  /// The sums of the fewest hops for a displacement in 0..n-1; none on a ring of one.
  const std::vector<Digits>& sums(std::int32_t displacement) const noexcept { return sums_[static_cast<std::size_t>(displacement)]; }

 private:
  void find_sums(std::int32_t displacement, std::int32_t n, std::int32_t reach);

  std::vector<std::int32_t> weights_;
  std::vector<std::vector<Digits>> sums_;  // by displacement
};

}  // namespace torus::total_exchange
