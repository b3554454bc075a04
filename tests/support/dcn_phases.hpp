/// What the tests of the phases of aggregate-distribute share, in the symbols of its papers.
#pragma once

#include <torus/block.hpp>
#include <torus/machine.hpp>
#include <torus/node.hpp>

#include "algorithms/common/integers.hpp"
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

}  // namespace torus::support
