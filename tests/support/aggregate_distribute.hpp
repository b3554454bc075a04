/// What the tests of aggregate-distribute share, in the symbols of its papers, and what its balancing should come to. That knows the source
/// set, which programs never do.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <torus/block.hpp>
#include <torus/machine.hpp>
#include <torus/node.hpp>

#include "algorithms/common/integers.hpp"
#include "algorithms/multinode_broadcast/aggregate_distribute/prefix.hpp"
#include "algorithms/multinode_broadcast/diagonal.hpp"
#include "algorithms/multinode_broadcast/line_tree.hpp"

namespace torus::support {

constexpr Bytes block_bytes = 8;

/// The n x n torus.
inline Machine square(std::int32_t n) { return Machine(Topology(std::vector<DimensionShape>(2, DimensionShape{n, Wiring::ring}))); }

inline bool on_dcn_diagonal(const Topology& t, NodeId node, std::int32_t h) {
  return t.coordinate(node, 0) % h == t.coordinate(node, 1) % h;
}

/// The logarithm of n, rounded up.
inline std::uint32_t L(std::uint64_t base, std::int32_t n) { return ceil_log(base, static_cast<std::uint64_t>(n)); }

inline multinode_broadcast::Bundle own_blocks(Node& self) { return {self.blocks().begin(), self.blocks().end()}; }

/// Messages in each of the h DDNs after aggregation, and after tuning.
struct DdnLoads {
  std::vector<std::uint32_t> before, after;
};

inline DdnLoads ddn_loads(std::int32_t n, std::int32_t h, multinode_broadcast::aggregate_distribute::Prefix prefix,
                          std::span<const NodeId> sources) {
  using namespace multinode_broadcast;
  using namespace multinode_broadcast::aggregate_distribute;
  struct Place {
    std::int32_t i, j;
  };
  // Where a bundle ends that starts at a place on a diagonal `position` of a gather.
  const auto gathered = [n](Place at, std::int32_t position, const LineTree& tree, std::int32_t unit) {
    while (position != tree.root()) {
      const LineTree::Vertex& v = tree.at(position);
      const Leg leg = diagonal_leg(position, v.parent, v.slot, unit);
      (leg.dimension == 0 ? at.i : at.j) = modulo((leg.dimension == 0 ? at.i : at.j) + leg.hops, n);
      position = v.parent;
    }
    return at;
  };
  // A DCN-diagonal node's key in the order of ranks: first by key, then by position under the key.
  struct Ranked {
    std::int32_t major, minor;
    Place at;
    std::uint32_t count;
  };

  const std::int32_t q = n / h;
  const auto side = static_cast<std::size_t>(n);
  const LineTree strip = LineTree::window(5, h), ddn = LineTree::window(5, q);
  std::vector<std::uint32_t> count(side * side, 0);
  for (const NodeId source : sources) {
    const Place at{static_cast<std::int32_t>(source) / n, static_cast<std::int32_t>(source) % n};
    const Place end = gathered(at, centred(at.i - at.j, h), strip, 1);
    ++count[static_cast<std::size_t>(end.i) * side + static_cast<std::size_t>(end.j)];
  }

  const bool diagonals = prefix == Prefix::diag5 || prefix == Prefix::diag3;
  std::vector<Ranked> ranked;
  for (std::size_t r = 0; r < count.size(); ++r) {
    if (count[r] == 0) continue;
    const Place at{static_cast<std::int32_t>(r) / n, static_cast<std::int32_t>(r) % n};
    if (diagonals) {
      ranked.push_back({modulo(at.i - at.j, n) / h, modulo(std::int64_t{2} * at.j - at.i, n), at, count[r]});
    } else {
      const std::int32_t offset = centred(at.i / h - at.j / h, q);
      ranked.push_back({gathered(at, offset, ddn, h).i, offset, at, count[r]});
    }
  }
  std::sort(ranked.begin(), ranked.end(),
            [](const Ranked& a, const Ranked& b) { return std::pair(a.major, a.minor) < std::pair(b.major, b.minor); });

  DdnLoads loads{std::vector<std::uint32_t>(static_cast<std::size_t>(h), 0), std::vector<std::uint32_t>(static_cast<std::size_t>(h), 0)};
  std::uint32_t rank = 0;
  std::int32_t diagonal = -1;
  for (const Ranked& node : ranked) {
    const auto k = static_cast<std::size_t>(node.at.i % h);
    loads.before[k] += node.count;
    if (prefix == Prefix::none || h == 1) {
      loads.after[k] += node.count;
      continue;
    }
    if (diagonals && node.major != diagonal) rank = first_rank_of_diagonal(diagonal = node.major, h, q);
    if (prefix == Prefix::hash) rank = hashed_rank(std::array{node.at.i, node.at.j}, h);
    for (std::uint32_t x = 0; x < node.count; ++x) ++loads.after[rank++ % static_cast<std::uint32_t>(h)];
  }
  return loads;
}

}  // namespace torus::support
