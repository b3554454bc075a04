/// The verifier of reductions: at every node that wants a segment, every contributor once and the right bytes.
#pragma once

#include <cstdint>
#include <optional>

#include <torus/executor.hpp>
#include <torus/placement.hpp>
#include <torus/result.hpp>

namespace torus::detail {

struct Payload;

/// The first difference by (node, block), a wrong set of contributors before wrong bytes; none if there is none. The expected result is
/// combined once, from all contributions: O(nodes * vector + bytes held), on all workers.
std::optional<WrongDelivery> verify_reduction(const Placement& placement, const Payload& payload, std::uint64_t seed, Executor& executor);

}  // namespace torus::detail
