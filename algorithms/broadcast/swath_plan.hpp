/// The plan of swath and strip: which layout, and what it costs.
#pragma once

#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/broadcast/swath_schedule.hpp"

namespace torus::broadcast {

/// Of the layout with the least model time; with the h of the request, if it says one. O(possible h * sum of the extents).
Plan swath_plan(const Machine& machine, const Request& request, Ways ways, std::string_view formula);

/// The schedule with the least time_s(schedule, its cost for the request's bytes): of the layouts with the h of the request, or of those
/// that leave no block without a byte and make at most `most_segments` of a message.
template <class Time>
SwathSchedule choose_swath(const Machine& machine, const Request& request, Ways ways, NodeId source, double most_segments, Time&& time_s) {
  const std::uint32_t h = request.parameters.whole("h");
  double least = std::numeric_limits<double>::infinity();
  std::optional<SwathSchedule> best;
  for (const SwathLayout& layout : swath_layouts(machine, ways)) {
    if (h > 0 ? layout.pieces != h : layout.pieces > 1 && layout.pieces * layout.parts > request.bytes) continue;
    SwathSchedule schedule(machine.topology, layout, source);
    if (h == 0 && layout.pieces > 1 && (schedule.segments() > request.bytes || schedule.segments() > most_segments)) continue;
    const double time = time_s(schedule, schedule.cost(request.bytes));
    if (best && time >= least) continue;
    least = time;
    best = std::move(schedule);
  }
  return std::move(*best);
}

/// The values that h may have, ascending: the pieces of the possible layouts.
std::vector<std::uint32_t> swath_values(const Machine& machine, Ways ways);

/// Refuses any other h.
std::optional<Refusal> swath_also_requires(const Machine& machine, const Request& request, Ways ways, std::string_view algorithm);

}  // namespace torus::broadcast
