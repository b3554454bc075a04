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
#pragma once

#include <memory>
#include <vector>

#include "algorithms/broadcast/circuit/gap_sequence.hpp"
#include "algorithms/broadcast/circuit/schedule.hpp"
#include "algorithms/common/row_table.hpp"

namespace torus::broadcast {

/// A dimension with the sequence of its informed positions.
struct GapAxis {
  Dimension dimension;
  std::shared_ptr<const GapSequence> sequence;
};

enum class Detour : std::uint8_t { cross, there_and_back };

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
  struct Send {
    std::int32_t hops;    // signed, along the axis
    std::int16_t detour;  // index in others_; -1: straight
    bool up;              // from the lower end of the gap
  };

  Dimension dimension_;
  std::int32_t extent_;
  Detour detour_;
  std::vector<GapAxis> others_;
  RowTable<Send> sends_;  // by parity * extent + position
};

/// Adds all expanding steps that refine `axis` down to the base; returns the refined axis.
GapAxis add_expanding_steps(CircuitSchedule& schedule, const char* phase, GapBase base, std::int32_t ports, std::uint32_t steps,
                            Detour detour, GapAxis axis, const std::vector<GapAxis>& others);

}  // namespace torus::broadcast
