/// The two kinds of steps that squeeze-expand is made of: those of a ring tree, which spread the message over a ring of places, and those
/// that refine the gaps between informed places.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "algorithms/broadcast/circuit/schedule.hpp"
#include "algorithms/common/received.hpp"

namespace torus::broadcast {

/// A tree of messages on a ring of m places from place 0, in ceil(log_{ports+1} m) steps, by the splitting rule of lines/segment.hpp.
/// A place need not be a node: the geometry makes it a row, a diagonal or a plane. The messages of one step stay in the sender's own
/// interval of places, so geometries that keep the order keep them apart. The tree is a table; every node can compute its row from the
/// lengths of the segments, which the splitting rule gives. Source: Wang, Tseng, Ni & Sheu, section 3.1.
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

/// The gap calculus: how the informed places of one dimension are spaced, and how a step refines them.
///
/// After the squeeze the informed nodes are { (Q_1[a], .., Q_k[c]) : a = .. = c (mod 2) }, Q_d a cyclic sequence of an even number of
/// positions of dimension d: the alternate diagonals of a 2D lattice, the body-centred lattice in 3D. A step that expands dimension d cuts
/// every gap of Q_d into an odd number of parts, so the new positions alternate in parity like the old ones. Gap i is *large* for even i,
/// *small* for odd i. With an even number a of ports, both are cut into a+1 parts; with an odd number, large ones into a+2 and small ones
/// into a. Parts alternate in kind and begin and end with the gap's own kind. Caps are the largest gaps that t steps can finish; large +
/// small grow by the factor a+1 each step, the most that a ports allow. Source: Wang, Tseng, Ni & Sheu, invariants I1 and I2 of section
/// 3.2; the roundings are ours.

/// How a dimension ends: `full`: every position carries both parities (gaps 1 and 0), the dimension is finished.
/// `unit`: all gaps are 1, except one gap of 2 if the extent is odd; every second place still lacks the message.
enum class GapBase : std::uint8_t { full, unit };

struct GapCaps {
  std::int64_t large;
  std::int64_t small;
  friend bool operator==(const GapCaps&, const GapCaps&) = default;
};

/// The largest gaps that `steps` expanding steps can refine down to the base.
GapCaps gap_caps(GapBase base, std::int32_t ports, std::uint32_t steps) noexcept;

/// Expanding steps that m evenly spread positions of an extent need.
std::uint32_t expanding_steps(GapBase base, std::int32_t extent, std::int32_t m, std::int32_t ports) noexcept;

/// Sizes of the parts that a gap is cut into, with `steps` steps to come after the cut. One part: the gap stays.
std::vector<std::int32_t> cut_gap(GapBase base, std::int32_t gap, bool large, std::int32_t ports, std::uint32_t steps);

/// Q_d: positions on a ring, ascending from 0, an even number of them. Index i + size() is the same place, once round the ring.
class GapSequence {
 public:
  GapSequence(std::int32_t extent, std::vector<std::int32_t> positions);
  /// m positions, m even, m <= extent, no two alike, spread so that expanding_steps() steps suffice.
  static GapSequence spread(GapBase base, std::int32_t extent, std::int32_t m, std::int32_t ports);
  /// Positions 0..m-1, m even.
  static GapSequence consecutive(std::int32_t extent, std::int32_t m);

  std::int32_t extent() const noexcept { return extent_; }
  std::int32_t size() const noexcept { return static_cast<std::int32_t>(positions_.size()); }
  /// For any index, without wrap-around: position(i + size()) = position(i) + extent().
  std::int32_t position(std::int32_t index) const noexcept;
  std::int32_t gap(std::int32_t index) const noexcept { return position(index + 1) - position(index); }
  /// Signed hops from an index to the one `steps` further.
  std::int32_t hops(std::int32_t index, std::int32_t steps) const noexcept { return position(index + steps) - position(index); }
  /// The index of a position, the first if several are there; -1 if there is none.
  std::int32_t index_of(std::int32_t position) const noexcept { return index_[static_cast<std::size_t>(position)]; }

  /// The cut of every gap, by cut_gap().
  std::vector<std::vector<std::int32_t>> cuts(GapBase base, std::int32_t ports, std::uint32_t steps_left) const;
  GapSequence refined(const std::vector<std::vector<std::int32_t>>& cuts) const;

  std::uint64_t bytes() const noexcept { return (positions_.size() + index_.size()) * sizeof(std::int32_t); }

 private:
  std::int32_t extent_;
  std::vector<std::int32_t> positions_;
  std::vector<std::int32_t> index_;
};

/// A dimension with the sequence of its informed positions.
struct GapAxis {
  Dimension dimension;
  std::shared_ptr<const GapSequence> sequence;
};

enum class Detour : std::uint8_t { cross, there_and_back };

/// One step that refines every gap of one dimension, on all its informed lines at once, without two circuits on a channel.
///
/// The two ends of a gap share its new points, on circuits along the gap: the lower end only upwards, the upper end only downwards.
///   cross            2D, and planes of 3D. An end reaches every second new point straight. It reaches the point next to that by one hop
///                    to the next line of the other dimension first: lower ends in direction +, upper ends in direction -. The circuit
///                    ends on that line, since the point has the other parity. At most 5 parts, so 3 or 4 ports.
///                    [Wang, Tseng, Ni & Sheu, figures 2b and 4b]
///   there_and_back   3D and more. An end reaches all new points of its own parity: the nearest straight, the o-th further one along the
///                    neighbour line in the o-th other dimension and back. Lower ends use direction +, upper ends direction -.
///                    [figures 10, 11, 13, 15]
/// The side fixes the direction, which keeps circuits apart: a neighbour line is entered upwards by + hops and downwards by - hops only.
/// Gaps of any sizes may be mixed in one step.
class ExpandingStep : public StepRule {
 public:
  /// Cuts the gaps of `axis` by `cuts`. `others`: the dimensions of detours in their order, without gaps of 0. The first gives a node's
  /// parity; cross detours use only that.
  ExpandingStep(const GapAxis& axis, const std::vector<std::vector<std::int32_t>>& cuts, Detour detour, std::vector<GapAxis> others);

  void routes(const Coordinates& place, const RouteSink& send) const override;
  /// Sequences that steps share are counted by each of them.
  Bytes table_bytes() const override;
  /// No node sends anything.
  bool idle() const noexcept { return sends_.empty(); }

 private:
  struct GapSend {
    std::int32_t hops;    // signed, along the axis
    std::int16_t detour;  // index in others_; -1: straight
    bool up;              // from the lower end of the gap
  };

  Dimension dimension_;
  std::int32_t extent_;
  Detour detour_;
  std::vector<GapAxis> others_;
  RowTable<GapSend> sends_;  // by parity * extent + position
};

/// Adds the first of `steps` expanding steps that refine `axis` down to the base; returns the axis after it.
GapAxis add_expanding_step(CircuitSchedule& schedule, const char* phase, GapBase base, std::int32_t ports, std::uint32_t steps,
                           Detour detour, const GapAxis& axis, const std::vector<GapAxis>& others);

/// Adds all expanding steps that refine `axis` down to the base; returns the refined axis.
GapAxis add_expanding_steps(CircuitSchedule& schedule, const char* phase, GapBase base, std::int32_t ports, std::uint32_t steps,
                            Detour detour, GapAxis axis, const std::vector<GapAxis>& others);

}  // namespace torus::broadcast
