/// Recursive halving of a row of places: the messages of a broadcast or a scatter that covers a row in ceil(log2 places) steps.
///
/// A part is an interval of places, one of them, the holder, informed. In a step the part is split into two halves of equal size or
/// nearly so. The holder keeps the half that it stands in, the larger one if they differ, and sends to the new holder of the other half.
/// The Target places the new holder:
///   far   The root sends to the far end of the other half. A holder left of the root stands at the left end of its part and sends right;
///         one right of the root stands at the right end and sends left. All messages flow towards the root.
///   near  The place of the other half that is nearest to the holder. All messages flow away from the root.
///   like  The place that lies in the other half as the holder does in its own, or the last one. Messages flow either way, and may meet.
/// The sizes are the same for both: the largest part of level l has ceil(places / 2^l) places. The largest given halves of all levels
/// together have places - 1 places, which is the cost of a scatter.
/// Source: Barnett, Payne, van de Geijn & Watts, "Recursive Splitting Broadcast" (far); near is its mirror image, for the opposite routing
/// order; "MST Broadcast on Non-Power-of-Two Meshes" (like).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <torus/algorithm.hpp>
#include <torus/machine.hpp>
#include <torus/route.hpp>

namespace torus::broadcast {

/// A place in a row, from 0. A row may be the whole machine.
using Place = std::uint32_t;

enum class Target : std::uint8_t { near, far, like };

struct Part {
  Place first = 0;
  Place end = 1;  ///< one past the last
  Place holder = 0;
  std::int32_t side = 0;  ///< of the root that the holder is on: -1 left, +1 right, 0 for the root itself

  constexpr Place size() const noexcept { return end - first; }
  constexpr bool contains(Place place) const noexcept { return first <= place && place < end; }
  friend constexpr bool operator==(const Part&, const Part&) = default;
};

/// A row of places before the first step.
constexpr Part whole_row(Place places, Place root) noexcept { return {0, places, root, 0}; }

struct Halves {
  Part kept;
  Part given;  ///< its holder is the target
  friend constexpr bool operator==(const Halves&, const Halves&) = default;
};

/// One step of a part of at least two places.
constexpr Halves halve(const Part& part, Target target) noexcept {
  const Place up = part.first + (part.size() + 1) / 2;
  const Place down = part.first + part.size() / 2;
  const Place middle = part.holder < up ? up : down;
  const bool left = part.holder < middle;  // the holder's half
  Halves halves{{part.first, middle, part.holder, part.side}, {middle, part.end, 0, left ? +1 : -1}};
  if (!left) halves = {{middle, part.end, part.holder, part.side}, {part.first, middle, 0, -1}};
  Part& given = halves.given;
  if (part.side != 0) given.side = part.side;
  if (target == Target::like) {
    given.holder = std::min(given.first + (part.holder - halves.kept.first), given.end - 1);
    return halves;
  }
  // Nearest to the holder is the inner end of the other half; far, the root takes the outer one.
  const bool outer = target == Target::far && part.side == 0;
  given.holder = left == outer ? given.end - 1 : given.first;
  return halves;
}

/// The part of a place when it is informed; the whole row for the root. O(log places).
constexpr Part first_part(Place places, Place root, Place place, Target target) noexcept {
  Part part = whole_row(places, root);
  while (part.holder != place) {
    const Halves halves = halve(part, target);
    part = halves.kept.contains(place) ? halves.kept : halves.given;
  }
  return part;
}

/// One step of all parts of a row: replaces each part of two places or more by its halves, and calls f(halves).
template <class F>
void halve_all(std::vector<Part>& parts, Target target, F&& f) {
  for (std::size_t i = 0, n = parts.size(); i < n; ++i) {
    if (parts[i].size() < 2) continue;
    const Halves halves = halve(parts[i], target);
    f(halves);
    parts[i] = halves.kept;
    parts.push_back(halves.given);
  }
}

/// An axis: a row of places that a broadcast halves or runs along. It is one dimension, or all nodes as one linear array.
///
/// Routes along an axis never cross a wrap-around link: on a torus they are those of the mesh inside it.
///
/// The order of the linear array and the choice of the new holder of a half belong together. Let i < j < k < l be places of the array.
/// With the dimension that is routed first the least significant, no two of these routes share a channel: i->j and k->l, j->i and l->k,
/// i->j and l->k (towards each other). With that dimension the most significant, "away from each other" replaces "towards".
/// Target::far lets all messages flow towards the root, Target::near away from it.
/// Source: Barnett, Payne, van de Geijn & Watts, "Avoiding Network Conflicts on General Meshes", for two dimensions and X-first routing;
/// the argument holds for any number of dimensions.
/// An immutable value, the same for all nodes.
class Axis {
 public:
  /// Each line of a dimension by itself.
  static Axis along(const Machine& machine, Dimension dimension);
  /// All nodes in one row. By rank if the machine routes in ascending (near) or descending order (far); else by the coordinates in the
  /// routing order (near).
  static Axis linear_array(const Machine& machine);
  /// All nodes in one row, by rank, whatever the routing (like): messages may meet. A node's place is its rank.
  static Axis by_rank(const Machine& machine);

  Place places() const noexcept { return places_; }
  Target target() const noexcept { return target_; }
  /// A node's place in its row.
  Place place(const Topology& topology, NodeId node) const noexcept;
  /// From a node to another place of its row, in the machine's routing order, without wrap-around links. O(dimensions).
  Route route(const Machine& machine, NodeId from, Place to) const;

 private:
  Axis(const Machine& machine, std::vector<Dimension> order, Target target);

  std::vector<Dimension> order_;  // most significant first
  Place places_;
  Target target_;
};

/// Axes one after the other: first the row of the root along the first axis, then all rows through informed nodes along the second, ..
/// An axis of n places takes ceil(log2 n) steps. For all nodes, axis a begins in step begin(a).
///
/// A message that is scattered over the axes has one piece a node. The places on the axes number the pieces, the first axis the most
/// significant, so the holder of a part of a row holds consecutive pieces.
/// An immutable value, the same for all nodes. The axes together cover each dimension once.
class Axes {
 public:
  /// All nodes as one linear array; the same by rank; the dimensions in ascending order; in descending order (row first).
  static Axes linear_array(const Machine& machine);
  static Axes by_rank(const Machine& machine);
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

/// The straight route from a node to node XOR bit, without wrap-around links. `bit` is a power of two below the number of nodes.
Leg leg_over_bit(const Topology& topology, NodeId node, NodeId bit) noexcept;

}  // namespace torus::broadcast
