/// A tree of messages on a ring of m places from place 0, in ceil(log_{ports+1} m) steps, by the splitting rule of common/segment.hpp.
/// The places need not be nodes: they stand for rows, for diagonals, for planes, whatever the geometry says. Messages of one step stay in
/// the sender's own interval of places, so that geometries that keep the order keep them apart. Source: Wang, Tseng, Ni & Sheu,
/// section 3.1.
#pragma once

#include <functional>
#include <memory>

#include "algorithms/broadcast/circuit/schedule.hpp"
#include "algorithms/common/row_table.hpp"

namespace torus::broadcast {

class RingTree {
 public:
  struct Child {
    std::int32_t offset;  ///< signed, in places; the ring is not wound up: |offset| < m
    std::int32_t track;   ///< 1, 2, ..: the how manieth child on its side, nearest first
  };

  RingTree(std::int32_t places, std::int32_t ports);

  std::size_t steps() const noexcept { return steps_.size(); }
  /// To whom the given place sends in a step; nobody if it is not informed yet.
  std::span<const Child> children(std::size_t step, std::int32_t place) const { return steps_[step].row(static_cast<std::size_t>(place)); }
  Bytes bytes(std::size_t step) const { return steps_[step].bytes(); }

 private:
  std::vector<RowTable<Child>> steps_;
};

/// How the places of a ring tree lie in the machine: which place a node is, and by which route it reaches the same place of a child.
struct RingGeometry {
  std::function<std::int32_t(const Coordinates& place)> index;
  std::function<void(const Coordinates& place, const RingTree::Child& child, Route& route)> route;
};

/// Adds the steps of a ring tree on `places` places to a schedule.
void add_ring_tree(CircuitSchedule& schedule, const char* phase, std::int32_t places, std::int32_t ports, RingGeometry geometry);

}  // namespace torus::broadcast
