/// The verifier: compares every block at every node, byte for byte.
#pragma once

#include <cstdint>
#include <optional>

#include <torus/executor.hpp>
#include <torus/placement.hpp>
#include <torus/result.hpp>

namespace torus {

namespace detail {
struct Payload;
}

/// The first difference between what the nodes of the payload's slab hold and what the placement says they must hold at the end; none if
/// there is none. O(bytes held), on all workers; the result does not depend on them.
std::optional<WrongDelivery> verify(const Placement& placement, const detail::Payload& payload, std::uint64_t seed, Executor& executor);

}  // namespace torus
