/// In how many segments a pipelined broadcast cuts its message, and what the pieces weigh.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <torus/block.hpp>
#include <torus/machine.hpp>

namespace torus::broadcast {

/// The bytes of the segments first..end-1 of a message cut in `segments`, the first bytes % segments of them a byte longer.
constexpr Bytes bytes_of_segments(Bytes bytes, std::uint64_t segments, std::uint64_t first, std::uint64_t end) noexcept {
  const Bytes longer = bytes % segments;
  return bytes / segments * (end - first) + (std::min(end, longer) - std::min(first, longer));
}

/// The best number of segments where the model time is about (K + latency) (T_s + (n / K) T_c), which has its minimum at
/// sqrt(latency n T_c / T_s). `step_s` is T_s with what the hops of a step cost. The whole numbers around the minimum, two of either parity
/// since an algorithm may send even and odd segments by different ways, are compared by `model_time_s(K)`, the exact time; clipped to 1..n,
/// and to what the nodes can hold, who will have all segments each. Source: Barnett, Payne, van de Geijn & Watts, "Pipelined Broadcast",
/// k_opt.
template <class ModelTime>
std::uint32_t best_segments(double latency, Bytes bytes, NodeId nodes, double byte_s, double step_s, ModelTime&& model_time_s) {
  const auto most = static_cast<double>(std::clamp<std::uint64_t>(bytes, 1, std::max<std::uint64_t>(1, most_blocks / nodes)));
  double best = std::sqrt(latency * static_cast<double>(bytes) * byte_s / step_s);
  if (!(best > 1)) best = 1;  // also where nothing costs anything
  best = std::min(best, most);
  auto chosen = static_cast<std::uint32_t>(std::floor(best));
  double least = model_time_s(chosen);
  for (const double around : {std::ceil(best), std::floor(best) - 1, std::ceil(best) + 1}) {
    const auto k = static_cast<std::uint32_t>(std::clamp(around, 1.0, most));
    const double time = model_time_s(k);
    if (time >= least) continue;
    least = time;
    chosen = k;
  }
  return chosen;
}

}  // namespace torus::broadcast
