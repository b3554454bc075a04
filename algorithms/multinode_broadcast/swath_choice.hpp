/// Which swath `relay` and `swaths` take: that with the least model time for the sources that are assumed.
#pragma once

#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/broadcast/swath_plan.hpp"
#include "algorithms/broadcast/swath_schedule.hpp"

namespace torus::multinode {

inline broadcast::Ways swath_ways(const Machine& machine) noexcept {
  return machine.ports == 1 ? broadcast::Ways::forward : broadcast::Ways::both;
}

inline std::vector<std::uint32_t> possible_swaths(const Machine& machine) { return broadcast::swath_values(machine, swath_ways(machine)); }

inline constexpr Parameter swath_pieces{"h", "pieces that each part of a message is split into", {}, possible_swaths};

struct SwathTotal {
  double steps, bytes;
};

/// total(schedule, bytes of one source's message on the fullest channels): what the whole takes. With the h of the request, or of the
/// layouts that leave no block without a byte and whose blocks, of all that are assumed, have room.
template <class Total>
broadcast::SwathSchedule choose_swath(const Machine& machine, const Request& request, double s, Total&& total) {
  const std::uint32_t h = request.parameters.whole("h");
  const double room = static_cast<double>(most_blocks) / machine.topology.nodes() / std::max(1.0, s);
  std::optional<broadcast::SwathSchedule> best;
  double least = std::numeric_limits<double>::infinity();
  for (const broadcast::SwathLayout& layout : broadcast::swath_layouts(machine, swath_ways(machine))) {
    if (h > 0 ? layout.pieces != h : layout.pieces > 1 && layout.pieces * layout.parts > request.bytes) continue;
    broadcast::SwathSchedule schedule(machine.topology, layout, 0);
    if (h == 0 && layout.pieces > 1 && (schedule.segments() > request.bytes || schedule.segments() > room)) continue;
    const SwathTotal sum = total(schedule, schedule.cost(request.bytes).channel_bytes);
    const double time = machine.cost.steps(sum.steps, sum.bytes, 0);
    if (best && time >= least) continue;
    least = time;
    best = std::move(schedule);
  }
  return std::move(*best);
}

}  // namespace torus::multinode
