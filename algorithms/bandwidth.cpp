#include <torus/bandwidth.hpp>

#include "runtime/base/figures.hpp"

namespace torus {

double asked_bytes(const Request& request, std::uint64_t nodes) noexcept {
  const auto bytes = static_cast<double>(request.bytes);
  switch (request.collective) {
    case Collective::broadcast: return bytes;
    case Collective::multinode_broadcast: return static_cast<double>(request.sources.size()) * bytes;
    case Collective::total_exchange:
    case Collective::reduce_scatter:
    case Collective::scatter:
    case Collective::gather: return static_cast<double>(nodes) * bytes;
    case Collective::reduce:
    case Collective::allreduce:
    case Collective::scan: return bytes;
    case Collective::barrier: return 0;
  }
  return 0;
}

double bus_factor(Collective collective, std::uint64_t nodes) noexcept {
  if (collective == Collective::broadcast || collective == Collective::reduce || collective == Collective::scan) return 1;
  const double others = nodes == 0 ? 0 : static_cast<double>(nodes - 1) / static_cast<double>(nodes);
  return collective == Collective::allreduce ? 2 * others : others;
}

Bandwidth bandwidth_of(const Request& request, std::uint64_t nodes, double seconds) noexcept {
  const double algorithm = per_second(asked_bytes(request, nodes), seconds);
  return {algorithm, algorithm * bus_factor(request.collective, nodes)};
}

}  // namespace torus
