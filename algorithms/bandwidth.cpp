#include <algorithm>

#include <torus/bandwidth.hpp>

#include "runtime/base/figures.hpp"

namespace torus {

double asked_messages(const Request& request, std::uint64_t nodes) noexcept {
  const CollectiveFacts& facts = facts_of(request.collective);
  if (!facts.takes_sizes()) return facts.carries_bytes() ? 1 : 0;
  return static_cast<double>(facts.from_sources() ? request.sources.size() : nodes);
}

DrawnSizes drawn_sizes(const Request& request, NodeId nodes) {
  constexpr std::uint64_t most_looked_at = std::uint64_t{1} << 22U;
  const Sizes sizes = sizes_of(nodes, request);
  const bool of_sources = request.from_sources();
  const std::uint64_t each = facts_of(request.collective).of_pairs() ? nodes : 1;
  const std::uint64_t count = of_sources ? request.sources.size() * each : sizes.count();
  if (count > most_looked_at) return {sizes.longest() > 0 ? static_cast<double>(request.bytes) : 0.0, sizes.longest(), false};
  DrawnSizes drawn;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Bytes size = sizes(of_sources ? request.sources[i / each] * each + i % each : i);
    drawn.mean += static_cast<double>(size);
    drawn.longest = std::max(drawn.longest, size);
  }
  if (count > 0) drawn.mean /= static_cast<double>(count);
  return drawn;
}

double asked_bytes(const Request& request, NodeId nodes) {
  const double each = request.sizes ? drawn_sizes(request, nodes).mean : static_cast<double>(request.bytes);
  return asked_messages(request, nodes) * each;
}

double bus_factor(Collective collective, std::uint64_t nodes) noexcept {
  const CollectiveFacts& facts = facts_of(collective);
  const bool both_ways = facts.combines && facts.wanted == CollectiveFacts::Wanted::everywhere;  // as a reduce-scatter and an all-gather
  if (facts.unit == CollectiveFacts::Unit::vector && !both_ways) return 1;
  const double others = nodes == 0 ? 0 : static_cast<double>(nodes - 1) / static_cast<double>(nodes);
  return both_ways ? 2 * others : others;
}

Bandwidth bandwidth_of(const Request& request, NodeId nodes, double seconds) {
  const double algorithm = per_second(asked_bytes(request, nodes), seconds);
  return {algorithm, algorithm * bus_factor(request.collective, nodes)};
}

}  // namespace torus
