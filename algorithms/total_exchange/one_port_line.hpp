/// Total exchange along one dimension with one port: the building blocks of A2. All nodes of a ring, a line or a complete dimension run it
/// side by side; node a of them has a block for each of the others.
/// Machine  packet, one port.
/// Steps    ring floor(n^2/4); line floor((n^2 - 1)/2); complete n - 1: each the least there is.
/// Header   none.   Memory  O(1) a node.
/// Source   Dimakopoulos & Dimopoulos, A theory for total exchange in multidimensional interconnection networks: single dimension.
#pragma once

#include <cstdint>

#include <torus/block.hpp>
#include <torus/program.hpp>
#include <torus/topology.hpp>

namespace torus::exchange {

/// The blocks that are exchanged along one dimension: the one that node a of it has for node b of it.
struct LineBlocks {
  Dimension dimension = 0;
  std::int32_t own = 0;  ///< this node's coordinate in it
  BlockId first = 0;     ///< the block of node 0 for node 0
  BlockId of_next = 0;   ///< what to add for the next a
  BlockId for_next = 0;  ///< what to add for the next b
  BlockId block(std::int32_t a, std::int32_t b) const noexcept {
    return first + static_cast<BlockId>(a) * of_next + static_cast<BlockId>(b) * for_next;
  }
};

/// Steps of one exchange along a dimension of n nodes.
constexpr std::uint64_t one_port_steps(Wiring wiring, std::int32_t extent) noexcept {
  const auto n = static_cast<std::uint64_t>(extent);
  switch (wiring) {
    case Wiring::ring: return n * n / 4;
    case Wiring::line: return (n * n - 1) / 2;
    case Wiring::complete: return n - 1;
  }
  return 0;
}

/// The exchange along a dimension, whatever its wiring. `blocks` must live until it has ended.
Program exchange_along(Node& self, const LineBlocks& blocks);

}  // namespace torus::exchange
