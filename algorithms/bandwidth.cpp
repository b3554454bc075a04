#include <algorithm>

#include <torus/bandwidth.hpp>

#include "runtime/base/figures.hpp"

namespace torus {

double asked_messages(const Request& request, std::uint64_t nodes) noexcept {
  switch (request.collective) {
    case Collective::multinode_broadcast: return static_cast<double>(request.sources.size());
    case Collective::total_exchange:
    case Collective::reduce_scatter:
    case Collective::scatter:
    case Collective::gather: return static_cast<double>(nodes);
    case Collective::broadcast:
    case Collective::reduce:
    case Collective::allreduce:
    case Collective::scan: return 1;
    case Collective::barrier: return 0;
  }
  return 0;
}

DrawnSizes drawn_sizes(const Request& request, NodeId nodes) {
  constexpr std::uint64_t most_looked_at = std::uint64_t{1} << 22U;
  const Sizes sizes = sizes_of(nodes, request);
  const bool of_sources = request.collective == Collective::multinode_broadcast;
  const std::uint64_t count = of_sources ? request.sources.size() : sizes.count();
  if (count > most_looked_at) return {sizes.longest() > 0 ? static_cast<double>(request.bytes) : 0.0, sizes.longest(), false};
  DrawnSizes drawn;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Bytes size = sizes(of_sources ? request.sources[i] : i);
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
  if (collective == Collective::broadcast || collective == Collective::reduce || collective == Collective::scan) return 1;
  const double others = nodes == 0 ? 0 : static_cast<double>(nodes - 1) / static_cast<double>(nodes);
  return collective == Collective::allreduce ? 2 * others : others;
}

Bandwidth bandwidth_of(const Request& request, NodeId nodes, double seconds) {
  const double algorithm = per_second(asked_bytes(request, nodes), seconds);
  return {algorithm, algorithm * bus_factor(request.collective, nodes)};
}

}  // namespace torus
