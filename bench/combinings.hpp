/// What a reduction would cost if it were nothing but its copies and additions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <torus/executor.hpp>
#include <torus/machine.hpp>
#include <torus/reduction.hpp>

#include "bench/shares.hpp"
#include "runtime/base/region.hpp"
#include "runtime/model/contribution.hpp"

namespace torus::bench {

/// A run of bytes of the vector.
struct Extent {
  std::uint32_t first, bytes;
};
/// What one node sends to another in a round: to be added there before the next round, or to replace what is there.
struct Parcel {
  NodeId from, to;
  bool adds;
  std::uint32_t first_extent, extents;  ///< of Parcels::extents
};
struct Parcels {
  std::vector<std::vector<Parcel>> rounds;
  std::vector<Extent> extents;
};

/// Vectors that nodes add up, each in one piece of memory. What is to be added is copied to a box of its receiver, a box a parcel, as a
/// message has memory of its own; results are copied to their places. All memory is touched beforehand.
class Combinings {
 public:
  /// bytes: of a vector. The executor must outlive this.
  Combinings(NodeId nodes, Bytes bytes, const Reduction& reduction, Parcels parcels, Executor& executor);

  /// Fills the vectors and does it all; gives the seconds that the rounds took.
  double run();
  /// Whether every node has the whole result.
  bool complete() const;

 private:
  struct Round {
    std::vector<std::uint32_t> sent_by;  // parcels, by sender: first of each node, and the end
    std::vector<Parcel> parcels;         // by sender
    std::vector<std::size_t> box;        // of each parcel that adds
    std::vector<std::uint32_t> arrived;  // parcels that add, by receiver
    std::vector<std::uint32_t> arrived_at;
  };
  std::byte* vector_of(NodeId node) noexcept { return vectors_.data() + std::size_t{node} * bytes_; }
  void add_arrived(const Round& round, NodeId node, const std::byte* boxes) noexcept;
  void send(const Round& round, NodeId node, std::byte* boxes) noexcept;

  NodeId nodes_;
  std::size_t bytes_;
  Reduction reduction_;
  torus::detail::Combiner combine_;
  std::vector<Extent> extents_;
  std::vector<Round> rounds_;
  torus::detail::Region<std::byte> vectors_, boxes_[2];  // boxes of even and odd rounds
  Executor* executor_;
  Shares shares_;
};

}  // namespace torus::bench
