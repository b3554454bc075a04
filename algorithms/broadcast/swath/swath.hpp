/// The program and the plan of a swath, which `swath` and `strip` share with multi-node broadcasts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <torus/algorithm.hpp>
#include <torus/node.hpp>

#include "algorithms/broadcast/swath/schedule.hpp"
#include "algorithms/common/parameters.hpp"

namespace torus::broadcast {

struct SwathView;

/// Sends in place of a node what is not one message of one source: those that relay bundles, or several swaths at once, have their own.
class SwathOutlet {
 public:
  /// Segments first .. first + count - 1 over a leg.
  virtual void send(const SwathView& view, Leg leg, std::uint32_t first, std::uint32_t count) = 0;

 protected:
  ~SwathOutlet() = default;
};

/// One part of the message, as one node sees it.
struct SwathView {
  Node& self;
  const SwathSchedule& schedule;
  std::size_t number;
  NodeId root;
  std::span<const BlockId> blocks;
  SwathOutlet* outlet = nullptr;  ///< none: send the blocks themselves

  const SwathSchedule::Part& part() const { return schedule.parts()[number]; }
  std::int32_t extent(std::size_t e) const { return self.extent(part().order[e]); }
  /// The node's place in dimension order[e], counted from the source.
  std::int32_t place(std::size_t e) const {
    const Dimension d = part().order[e];
    return modulo(self.coordinate(d) - self.topology().coordinate(root, d), self.extent(d));
  }
  /// Whether the node lies as the source does in the dimensions order[from], ..
  bool level_from(std::size_t from) const {
    for (std::size_t e = from; e < part().order.size(); ++e) {
      if (place(e) != 0) return false;
    }
    return true;
  }
  /// The first of the blocks that the node's places in the first dimensions of the part's order leave.
  std::uint32_t bundle(std::size_t level) const {
    std::uint32_t block = part().first_block;
    for (std::size_t e = 0; e < level; ++e)
      block += static_cast<std::uint32_t>(part().levels[e].gather.class_of(place(e))) * part().levels[e].stride;
    return block;
  }
  void send(std::size_t along, std::int32_t hops, std::uint32_t first, std::uint32_t count) const {
    const Leg leg{part().order[along], hops};
    if (outlet != nullptr)
      outlet->send(*this, leg, first, count);
    else
      self.send({leg}, blocks.subspan(first, count));
  }
  void send_pieces(std::size_t along, std::int32_t hops, std::int32_t first, std::int32_t pieces) const {
    const std::uint32_t size = part().piece_blocks;
    send(along, hops, bundle(schedule.levels()) + static_cast<std::uint32_t>(first) * size, static_cast<std::uint32_t>(pieces) * size);
  }
};

}  // namespace torus::broadcast

namespace torus::broadcast::swath {

/// What a phase is called in reports.
const char* name_of(SwathSchedule::Stage stage);

/// What a node sends in a step of a phase: `blocks`, the ids of all segments, or through the outlet.
void swath_step(Node& self, const SwathSchedule& schedule, NodeId root, std::span<const BlockId> blocks, const SwathSchedule::Phase& phase,
                Step step, SwathOutlet* outlet = nullptr);

/// The program of a node. `blocks`: the ids of all segments. They and the schedule must outlive the run. What comes is left alone: a longer
/// frame would cost some per cent.
Program swath_program(Node& self, const SwathSchedule& schedule, NodeId root, std::span<const BlockId> blocks);

}  // namespace torus::broadcast::swath

namespace torus::broadcast {

/// The plan of the layout with the least model time; with the h of the request, if it says one. O(possible h * sum of the extents).
Plan swath_plan(const Machine& machine, const Request& request, Ways ways, std::string_view formula);

/// Steps that a layout takes at least: those of its gathers, in which a node takes the pieces that it lacks, one a step from either side.
Step least_steps(const Machine& machine, const SwathLayout& layout, Ways ways);

/// The schedule with the least time_s(schedule, its cost for the request's bytes): of the layouts with the h of the request, or of those
/// that leave no block without a byte and make at most `most_segments` of a message. least_s(steps): a lower
/// bound of the time of a schedule with that many steps or more. A layout whose bound is above the best time is not tried.
template <class Time, class Least>
SwathSchedule choose_swath(const Machine& machine, const Request& request, Ways ways, NodeId source, double most_segments, Time&& time_s,
                           Least&& least_s) {
  const std::uint32_t h = request.parameters.whole("h");
  const std::vector<SwathLayout> layouts = swath_layouts(machine, ways);
  const auto time_of = [&](const SwathLayout& layout) -> std::optional<double> {
    const SwathSchedule schedule(machine, layout, source);
    if (h == 0 && layout.pieces > 1 && (schedule.segments() > request.bytes || schedule.segments() > most_segments)) return std::nullopt;
    return time_s(schedule, schedule.cost(request.bytes));
  };
  std::vector<std::pair<Step, std::size_t>> by_steps;
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    const SwathLayout& layout = layouts[i];
    if (h > 0 ? layout.pieces != h : layout.pieces > 1 && layout.pieces * layout.parts > request.bytes) continue;
    by_steps.emplace_back(least_steps(machine, layout, ways), i);
  }
  std::sort(by_steps.begin(), by_steps.end());
  std::vector<std::optional<double>> times(layouts.size());
  double best_s = std::numeric_limits<double>::infinity();
  for (const auto& [steps, i] : by_steps) {
    if (least_s(steps) > best_s) break;
    times[i] = time_of(layouts[i]);
    best_s = std::min(best_s, times[i].value_or(best_s));
  }
  const SwathLayout best =
      *cheapest(layouts, [&](const SwathLayout& layout) { return times[static_cast<std::size_t>(&layout - layouts.data())]; });
  return SwathSchedule(machine, best, source);
}

/// The values that h may have, ascending: the pieces of the possible layouts.
std::vector<std::uint32_t> swath_values(const Machine& machine, Ways ways);

/// Why a machine, or an h that is none of these, does not do.
std::optional<Refusal> swath_also_requires(const Machine& machine, const Request& request, Ways ways, std::string_view algorithm);

}  // namespace torus::broadcast
