/// Arithmetic with ranks, coordinate by coordinate and modulo the extents, without a division.
///
/// A *class* delta is, at every node x, the block of x for node x + delta, where delta too is written as a rank: the one of the node
/// with these coordinates. Where a schedule lets all nodes do the same with a class, it is told once, in classes, and each node finds its
/// own blocks by addition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <torus/block.hpp>
#include <torus/machine.hpp>
#include <torus/topology.hpp>

namespace torus::exchange {

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

}  // namespace torus::exchange
