/// The number of segments that a pipelined broadcast splits its message into, and the sizes of the segments.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include <torus/algorithm.hpp>
#include <torus/byte_sum.hpp>

#include "algorithms/common/parameters.hpp"

namespace torus {

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
