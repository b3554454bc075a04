#include "runtime/model/twist.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <string>

#include <torus/error.hpp>

namespace torus::detail {
namespace {

std::int32_t shortest(const Topology& topology) {
  std::int32_t least = topology.extent(0);
  for (Dimension d = 1; d < topology.dimensions(); ++d) least = std::min(least, topology.extent(d));
  return least;
}

}  // namespace

void check_twist(const Topology& topology) {
  const std::int64_t k = shortest(topology);
  bool has_long = false;
  bool fits = k >= 2 && (topology.shape().size() == 2 || topology.shape().size() == 3);
  for (const DimensionShape& d : topology.shape()) {
    fits = fits && d.wiring == Wiring::ring && (d.extent == k || d.extent == 2 * k);
    has_long = has_long || d.extent == 2 * k;
  }
  if (!fits || !has_long)
    throw InputError("a twisted torus has two or three rings, of extents k and 2k, both, k at least 2; 4x8t or 4x4x8t would do");
}

std::int32_t twisted_circle(const Topology& topology) noexcept { return 2 * shortest(topology); }

NodeId over_the_end(const Topology& topology, NodeId from, Dimension d, std::int64_t to) noexcept {
  const std::int32_t n = topology.extent(d);
  const std::int32_t inside = modulo(to, n);
  NodeId node = from + static_cast<NodeId>(inside - topology.coordinate(from, d)) * topology.stride(d);
  const bool odd_wraps = ((to - inside) / n) % 2 != 0;
  if (!odd_wraps || n != shortest(topology)) return node;
  for (Dimension l = 0; l < topology.dimensions(); ++l) {
    if (topology.extent(l) != n) node += static_cast<NodeId>(topology.coordinate(from, l) < n ? n : -n) * topology.stride(l);
  }
  return node;
}

/// Tries every choice of short dimensions that are left over an end. Over both ends of one, or twice, is never shorter.
Coordinates twisted_offsets(const Topology& topology, NodeId from, NodeId to) noexcept {
  const std::int32_t k = shortest(topology);
  Coordinates best;
  std::int32_t least = 0;
  const unsigned choices = 1U << topology.shape().size();
  for (int wraps = 0; wraps < static_cast<int>(topology.shape().size()); ++wraps) {
    for (unsigned over = 0; over < choices; ++over) {
      if (std::popcount(over) != wraps) continue;
      Coordinates apart;
      std::int32_t hops = 0;
      bool possible = true;
      for (Dimension d = 0; d < topology.dimensions(); ++d) {
        const bool wrap = (over >> static_cast<unsigned>(d) & 1U) != 0;
        std::int32_t o = topology.coordinate(to, d) - topology.coordinate(from, d);
        if (topology.extent(d) == k) {
          if (wrap) o += o > 0 ? -k : k;
        } else {
          possible = possible && !wrap;
          o = topology.offset(d, 0, modulo(std::int64_t{o} + (wraps % 2 != 0 ? k : 0), 2 * k));
        }
        apart.push_back(o);
        hops += std::abs(o);
      }
      if (!possible || (!best.empty() && hops >= least)) continue;
      best = apart;
      least = hops;
    }
  }
  return best;
}

std::int32_t twisted_diameter(const Topology& topology) noexcept {
  std::int32_t farthest = 0;
  for (NodeId node = 0; node < topology.nodes(); ++node) farthest = std::max(farthest, topology.distance(0, node));
  return farthest;
}

}  // namespace torus::detail
