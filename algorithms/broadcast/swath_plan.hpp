/// The plan of swath and strip: which layout, and what it costs.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/broadcast/swath_schedule.hpp"

namespace torus::broadcast {

/// Of the layout with the least model time; with the h of the request, if it says one. O(possible h * sum of the extents).
Plan swath_plan(const Machine& machine, const Request& request, Ways ways, std::string_view formula);

/// The values that h may have, ascending: the pieces of the possible layouts.
std::vector<std::uint32_t> swath_values(const Machine& machine, Ways ways);

/// Refuses any other h.
std::optional<Refusal> swath_also_requires(const Machine& machine, const Request& request, Ways ways, std::string_view algorithm);

}  // namespace torus::broadcast
