/// Axes one after the other: first the row of the root along the first axis, then all rows through informed nodes along the second, ..
/// Each axis of n places takes ceil(log2 n) steps; axis a begins at begin(a) for all nodes.
///
/// Here also live the pieces of a message that is scattered over the axes: one piece a node, numbered by the places on the axes, the
/// first axis the most significant, so that whoever holds a part of a row holds consecutive pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <torus/block.hpp>
#include <torus/machine.hpp>
#include <torus/program.hpp>

#include "algorithms/broadcast/axis.hpp"
#include "algorithms/broadcast/halving.hpp"

namespace torus::broadcast {

/// An immutable value, the same for all nodes. Together the axes are to cover each dimension once.
class Axes {
 public:
  /// All nodes as one linear array; the dimensions in ascending order; in descending order (row first).
  static Axes linear_array(const Machine& machine);
  static Axes ascending(const Machine& machine);
  static Axes descending(const Machine& machine);

  std::size_t size() const noexcept { return axes_.size(); }
  const Axis& operator[](std::size_t a) const noexcept { return axes_[a]; }
  /// The name of the steps of an axis in reports. Lives as long as this.
  const char* phase(std::size_t a) const noexcept { return phases_[a].c_str(); }

  /// The step that axis a begins with; that of axis size() is the number of steps.
  Step begin(std::size_t a) const noexcept { return begin_[a]; }
  Step steps() const noexcept { return begin_.back(); }
  /// The axis along which a node is informed: the last on which it differs from the root; 0 for the root.
  std::size_t informed_along(const Topology& topology, NodeId node, NodeId root) const noexcept;

  /// Pieces of a place of axis a: the product of the places of the axes after it.
  std::uint64_t pieces_of_place(std::size_t a) const noexcept { return pieces_of_place_[a]; }
  /// The first piece of the node's row along axis a.
  std::uint64_t first_piece_of_row(const Topology& topology, NodeId node, std::size_t a) const noexcept;

 private:
  Axes(std::vector<Axis> axes, std::vector<std::string> phases);

  std::vector<Axis> axes_;
  std::vector<std::string> phases_;
  std::vector<Step> begin_;
  std::vector<std::uint64_t> pieces_of_place_;
};

/// The hops of the longest message of each step of the halving, summed. O(places of the axes).
std::uint64_t halving_hops(const Topology& topology, const Axes& axes, NodeId root);

/// Halves the rows of every axis in turn until all nodes are informed, in axes.steps() steps from step 0. Without `pieces` each message
/// carries all that the sender holds: a broadcast. With the ids of all pieces it carries those of the part that it gives away: a scatter.
/// Both arguments taken by reference or span must outlive the run.
Program halving_program(Node& self, const Axes& axes, NodeId root, std::span<const BlockId> pieces);

}  // namespace torus::broadcast
