/// Parameters that several algorithms declare, the search over the values of one, and the plans of a variant and of a number of segments.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <ranges>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <torus/algorithm.hpp>
#include <torus/byte_sum.hpp>

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

/// The bytes of the segments first..end-1 of a message of `segments` segments, the first bytes % segments of them a byte longer.
constexpr Bytes bytes_of_segments(Bytes bytes, std::uint64_t segments, std::uint64_t first, std::uint64_t end) noexcept {
  const Bytes longer = bytes % segments;
  return bytes / segments * (end - first) + (std::min(end, longer) - std::min(first, longer));
}

/// The best number of segments where the model time is about (K + latency) (T_s + (n / K) T_c), which has its minimum at
/// sqrt(latency n T_c / T_s). `step_s` is T_s with the cost of a step's hops. The exact time, `model_time_s(K)`, decides between the whole
/// numbers around the minimum: two of either parity, since even and odd segments may travel by different ways. The number is clipped to
/// 1..n, and to what the nodes can hold, which all hold all segments in the end.
/// Source: Barnett, Payne, van de Geijn & Watts, "Pipelined Broadcast", k_opt.
template <class ModelTime>
std::uint32_t best_segments(double latency, Bytes bytes, NodeId nodes, double byte_s, double step_s, ModelTime&& model_time_s) {
  const auto most = static_cast<double>(std::clamp<std::uint64_t>(bytes, 1, std::max<std::uint64_t>(1, most_blocks / nodes)));
  double best = std::sqrt(latency * static_cast<double>(bytes) * byte_s / step_s);
  if (!(best > 1)) best = 1;  // also where nothing costs anything
  best = std::min(best, most);
  const auto whole = [&](double k) { return static_cast<std::uint32_t>(std::clamp(k, 1.0, most)); };
  const std::array around{whole(std::floor(best)), whole(std::ceil(best)), whole(std::floor(best) - 1), whole(std::ceil(best) + 1)};
  return *cheapest(around, [&](std::uint32_t k) { return std::optional<double>(model_time_s(k)); });
}

/// The plan of a pipelined broadcast without its program: with the `segments` of the request, else with the best number of them.
/// steps(K) and channel_bytes(K), a ByteSum, are exact; hops_a_step is about the hops of the longest route of a step.
template <class Steps, class ChannelBytes>
Plan segmented_plan(const Machine& machine, const Request& request, std::int64_t latency, std::int64_t hops_a_step, Steps&& steps,
                    ChannelBytes&& channel_bytes) {
  const CostModel& cost = machine.cost;
  const auto hops = static_cast<double>(hops_a_step);
  const auto time = [&](std::uint32_t k) {
    const auto count = static_cast<double>(steps(k));
    return cost.steps(count, channel_bytes(k), count * hops);
  };
  Plan plan;
  plan.segments = request.parameters.whole("segments");
  if (plan.segments == 0) {
    plan.segments = best_segments(static_cast<double>(std::max<std::int64_t>(latency, 0)), request.bytes, machine.topology.nodes(),
                                  cost.byte_s, cost.steps(1, 0, hops), time);
  }
  plan.steps = steps(plan.segments);
  plan.channel_bytes = channel_bytes(plan.segments);
  plan.notes = {{"segments", std::to_string(plan.segments)}};
  return plan;
}

}  // namespace torus
