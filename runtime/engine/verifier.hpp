/// Every wanted block at every node, byte for byte.
#pragma once

#include <cstdint>
#include <optional>

#include <torus/block.hpp>
#include <torus/executor.hpp>
#include <torus/result.hpp>

namespace torus {

namespace detail {
struct Payload;
}

/// Compares what every node holds with what the placement says it must hold at the end; none if all is right. O(bytes held), on all
/// workers; the answer does not depend on them.
std::optional<WrongDelivery> verify(const Placement& placement, const detail::Payload& payload, std::uint64_t seed, Executor& executor);

}  // namespace torus
