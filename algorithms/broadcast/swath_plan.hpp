/// The plan of swath: which h, and what it costs.
#pragma once

#include <optional>

#include <torus/algorithm.hpp>

namespace torus::broadcast {

/// With the h of the request, else with the h of least model time.
Plan swath_plan(const Machine& machine, const Request& request);

/// Refuses an h that is none of possible_swaths().
std::optional<Refusal> swath_also_requires(const Machine& machine, const Request& request);

}  // namespace torus::broadcast
