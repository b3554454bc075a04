/// Plans that broadcasts have in common: of a whole message, and of the best variant of a broadcast.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/common/parameters.hpp"

namespace torus::broadcast {

/// A channel carries the message at most once a step. `header`: words that each message carries beside the block.
inline Plan whole_message_plan(const Request& request, std::uint64_t steps, std::string_view formula, std::function<Program(Node&)> start,
                               std::uint64_t header = 0) {
  Plan plan;
  plan.start = std::move(start);
  plan.steps = steps;
  plan.formula = formula;
  plan.channel_bytes = static_cast<double>(steps) * static_cast<double>(request.bytes + header * sizeof(Word));
  return plan;
}

/// The plan of the variant that the request names, else that of least model time, hops aside. `plan_of` makes the plan of a variant.
template <typename PlanOf>
Plan plan_of_variant(const Machine& machine, const Request& request, std::span<const std::string_view> variants, PlanOf plan_of) {
  const std::string_view named = request.parameters.word("variant");
  std::vector<Plan> plans;
  for (const std::string_view variant : variants) {
    if (!named.empty() && named != variant) continue;
    plans.push_back(plan_of(variant));
    plans.back().notes.emplace_back("variant", variant);
  }
  return *cheapest(plans, [&](const Plan& plan) { return std::optional(plan.model_time_s(machine.cost)); });
}

}  // namespace torus::broadcast
