/// Parameters that several algorithms declare, the search over the values of one, and the plan of a variant.
#pragma once

#include <optional>
#include <ranges>
#include <span>
#include <string_view>
#include <vector>

#include <torus/algorithm.hpp>

namespace torus {
namespace parameter {

inline constexpr Parameter segments{"segments", "blocks that each message is split into"};
inline constexpr Parameter chunk{"chunk", "segments that a channel carries in a step"};
/// What plan_of_variant() reads.
constexpr Parameter variant(std::span<const std::string_view> words) noexcept { return {"variant", "form of the algorithm", words}; }

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

/// The plan of the variant that the request names, else that of least model time, hops aside. plan_of(variant) makes an optional plan,
/// which is empty where the machine does not allow the variant. It must allow one, and the one that is named.
template <typename PlanOf>
Plan plan_of_variant(const Machine& machine, const Request& request, std::span<const std::string_view> variants, PlanOf plan_of) {
  const std::string_view named = request.parameters.word("variant");
  std::vector<Plan> plans;
  for (const std::string_view variant : variants) {
    if (!named.empty() && named != variant) continue;
    std::optional<Plan> plan = plan_of(variant);
    if (!plan) continue;
    plan->notes.emplace_back("variant", variant);
    plans.push_back(*std::move(plan));
  }
  return *cheapest(plans, [&](const Plan& plan) { return std::optional(plan.model_time_s(machine.cost)); });
}

}  // namespace torus
