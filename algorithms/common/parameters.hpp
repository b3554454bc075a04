/// Parameters that several algorithms declare, and the search over the values of one.
#pragma once

#include <optional>
#include <ranges>

#include <torus/requirements.hpp>

namespace torus {
namespace parameter {

inline constexpr Parameter segments{"segments", "blocks that each message is split into"};
inline constexpr Parameter chunk{"chunk", "segments that a channel carries in a step"};

}  // namespace parameter

/// The candidate of least cost, the first among equals; none if none applies. `cost_of` maps a candidate to an optional number, which is
/// empty where the candidate does not apply. Calls it once a candidate, in their order.
template <std::ranges::input_range Candidates, typename CostOf>
auto cheapest(Candidates&& candidates, CostOf cost_of) -> std::optional<std::ranges::range_value_t<Candidates>> {
  std::optional<std::ranges::range_value_t<Candidates>> best;
  decltype(cost_of(*std::ranges::begin(candidates))) least;
  for (auto&& candidate : candidates) {
    const auto cost = cost_of(candidate);
    if (!cost || (least && !(*cost < *least))) continue;
    best = candidate;
    least = cost;
  }
  return best;
}

}  // namespace torus
