// SPDX-License-Identifier: MIT
/// Every wanted block at every node, byte for byte.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/block.hpp"
#include "runtime/executor.hpp"

namespace torus {

namespace detail {
class BlockStore;
}

/// The first thing that is wrong with what the nodes hold at the end, by (node, block).
struct WrongDelivery {
  enum class Kind : std::uint8_t { missing, unasked, damaged };
  Kind kind{};
  NodeId node = 0;
  BlockId block = 0;
  std::uint64_t offset = 0;      ///< damaged: of the first wrong byte
  std::uint8_t got = 0;
  std::uint8_t wanted = 0;
};

/// Compares what every node holds with what the placement says it must hold at the end; none if all is right. O(bytes held), on all workers;
/// the answer does not depend on them.
std::optional<WrongDelivery> verify(const Placement& placement, const detail::BlockStore& store, std::uint64_t seed, Executor& executor);

}  // namespace torus
