/// A tree of messages on a ring of m places from place 0, in ceil(log_{ports+1} m) steps, by the splitting rule of common/segment.hpp.
/// A place need not be a node: the geometry makes it a row, a diagonal or a plane. The messages of one step stay in the sender's own
/// interval of places, so geometries that keep the order keep them apart. The tree is a table; every node can compute its row from the
/// lengths of the segments, which the splitting rule gives. Source: Wang, Tseng, Ni & Sheu, section 3.1.
#pragma once

#include <functional>
#include <memory>

#include "algorithms/broadcast/circuit/schedule.hpp"
#include "algorithms/common/row_table.hpp"

namespace torus::broadcast {

class RingTree {
 public:
  struct Child {
    std::int32_t offset;  ///< signed, in places; |offset| < m
    std::int32_t track;   ///< ordinal of the child on its side, 1 = nearest
  };

  RingTree(std::int32_t places, std::int32_t ports);

  std::size_t steps() const noexcept { return steps_.size(); }
  /// The children that a place sends to in a step; none if it is not informed yet.
  std::span<const Child> children(std::size_t step, std::int32_t place) const { return steps_[step].row(static_cast<std::size_t>(place)); }
  Bytes bytes(std::size_t step) const { return steps_[step].bytes(); }

 private:
  std::vector<RowTable<Child>> steps_;
};

/// How the places of a ring tree lie in the machine: the place of a node, and its route to the same place of a child.
struct RingGeometry {
  std::function<std::int32_t(const Coordinates& place)> index;
  std::function<void(const Coordinates& place, const RingTree::Child& child, Route& route)> route;
};

/// Adds the steps of a ring tree on `places` places to a schedule.
void add_ring_tree(CircuitSchedule& schedule, const char* phase, std::int32_t places, std::int32_t ports, RingGeometry geometry);

}  // namespace torus::broadcast
