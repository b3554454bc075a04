/// Which swath `relay` and `swaths` take: that with the least model time for the sources that are assumed.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/broadcast/swath/schedule.hpp"
#include "algorithms/broadcast/swath/swath.hpp"

namespace torus::multinode_broadcast {

inline lines::Ways swath_ways(const Machine& machine) noexcept { return machine.ports == 1 ? lines::Ways::forward : lines::Ways::both; }

inline std::vector<std::uint32_t> possible_swaths(const Machine& machine) { return broadcast::swath_values(machine, swath_ways(machine)); }

inline constexpr std::array swath_parameters{Parameter{"h", "pieces that each part of a message is split into", {}, possible_swaths}};
inline constexpr std::string_view swath_shapes = "torus of any dimension, any sides; h as for swath, with one port as for strip";

/// With the least model time for s sources. total(schedule, bytes of one source's message on the fullest channels): what the whole takes,
/// in steps and bytes. The blocks of all sources have room.
template <class Total>
broadcast::SwathSchedule choose_swath(const Machine& machine, const Request& request, double s, Total&& total) {
  const double room = static_cast<double>(most_blocks) / machine.topology.nodes() / std::max(1.0, s);
  return broadcast::choose_swath(
      machine, request, swath_ways(machine), 0, room,
      [&](const broadcast::SwathSchedule& schedule, const broadcast::SwathSchedule::Cost& cost) {
        const auto [steps, bytes] = total(schedule, cost.channel_bytes);
        return machine.cost.steps(steps, bytes, 0);
      },
      [](Step) { return 0.0; });
}

}  // namespace torus::multinode_broadcast
