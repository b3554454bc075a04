/// Every wanted block at every node, byte for byte.
#pragma once

#include <cstdint>
#include <optional>

#include <torus/executor.hpp>
#include <torus/placement.hpp>
#include <torus/result.hpp>

namespace torus {

namespace detail {
class BlockStore;
}

/// Compares what every node holds with what the placement says it must hold at the end; none if all is right. O(bytes held), on all
/// workers; the answer does not depend on them.
std::optional<WrongDelivery> verify(const Placement& placement, const detail::BlockStore& store, std::uint64_t seed, Executor& executor);

}  // namespace torus
