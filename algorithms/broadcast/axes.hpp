/// Axes one after the other: first the row of the root along the first axis, then all rows through informed nodes along the second, ..
/// An axis of n places takes ceil(log2 n) steps. For all nodes, axis a begins in step begin(a).
///
/// A message that is scattered over the axes has one piece a node. The places on the axes number the pieces, the first axis the most
/// significant, so the holder of a part of a row holds consecutive pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/broadcast/axis.hpp"
#include "algorithms/broadcast/halving.hpp"

namespace torus::broadcast {

/// An immutable value, the same for all nodes. The axes together cover each dimension once.
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

  /// The first step of axis a; begin(size()) is the number of steps.
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

/// Halves the rows of every axis in turn until all nodes are informed, in axes.steps() steps from step 0. Without `pieces` each message
/// carries all that the sender holds: a broadcast. With the ids of all pieces it carries those of the part that it gives away: a scatter.
/// `axes` and `pieces` must outlive the run.
Program halving_program(Node& self, const Axes& axes, NodeId root, std::span<const BlockId> pieces);

/// The plan of the broadcast by halving.
Plan halving_plan(const Request& request, Axes axes, std::string_view formula);

}  // namespace torus::broadcast
