// The twisted torus: what a hop over the end of a short dimension does, and distances that follow.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <string>

#include <torus/error.hpp>
#include <torus/topology.hpp>

namespace torus {
namespace {

std::int32_t shortest(const Topology& topology) {
  std::int32_t least = topology.extent(0);
  for (Dimension d = 1; d < topology.dimensions(); ++d) least = std::min(least, topology.extent(d));
  return least;
}

}  // namespace

void Topology::check_twist() const {
  const std::int64_t k = shortest(*this);
  bool has_long = false;
  bool fits = k >= 2 && (shape_.size() == 2 || shape_.size() == 3);
  for (const DimensionShape& d : shape_) {
    fits = fits && d.wiring == Wiring::ring && (d.extent == k || d.extent == 2 * k);
    has_long = has_long || d.extent == 2 * k;
  }
  if (!fits || !has_long)
    throw InputError("a twisted torus has two or three rings, of extents k and 2k, both, k at least 2; 4x8t or 4x4x8t would do");
}

std::int32_t Topology::twisted_circle() const noexcept { return 2 * shortest(*this); }

NodeId Topology::over_the_end(NodeId from, Dimension d, std::int64_t to) const noexcept {
  const std::int32_t n = extent(d);
  const std::int32_t inside = modulo(to, n);
  NodeId node = from + static_cast<NodeId>(inside - coordinate(from, d)) * stride(d);
  const bool odd_wraps = ((to - inside) / n) % 2 != 0;
  if (!odd_wraps || n != shortest(*this)) return node;
  for (Dimension l = 0; l < dimensions(); ++l) {
    if (extent(l) != n) node += static_cast<NodeId>(coordinate(from, l) < n ? n : -n) * stride(l);
  }
  return node;
}

/// Tries every choice of short dimensions that are left over an end. Over both ends of one, or twice, is never shorter.
Coordinates Topology::twisted_offsets(NodeId from, NodeId to) const noexcept {
  const std::int32_t k = shortest(*this);
  Coordinates best;
  std::int32_t least = 0;
  const unsigned choices = 1U << shape_.size();
  for (int wraps = 0; wraps < static_cast<int>(shape_.size()); ++wraps) {
    for (unsigned over = 0; over < choices; ++over) {
      if (std::popcount(over) != wraps) continue;
      Coordinates apart;
      std::int32_t hops = 0;
      bool possible = true;
      for (Dimension d = 0; d < dimensions(); ++d) {
        const bool wrap = (over >> static_cast<unsigned>(d) & 1U) != 0;
        std::int32_t o = coordinate(to, d) - coordinate(from, d);
        if (extent(d) == k) {
          if (wrap) o += o > 0 ? -k : k;
        } else {
          possible = possible && !wrap;
          o = offset(d, 0, modulo(std::int64_t{o} + (wraps % 2 != 0 ? k : 0), 2 * k));
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

std::int32_t Topology::twisted_diameter() const noexcept {
  std::int32_t farthest = 0;
  for (NodeId node = 0; node < nodes_; ++node) farthest = std::max(farthest, distance(0, node));
  return farthest;
}

}  // namespace torus
