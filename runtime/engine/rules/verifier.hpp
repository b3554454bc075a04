/// The verifier: compares every block at every node, byte for byte; in a reduction, first whose contributions each block has.
#pragma once

#include <cstdint>
#include <optional>

#include <torus/executor.hpp>
#include <torus/placement.hpp>
#include <torus/result.hpp>

namespace torus {

namespace detail {

class Members;
struct Payload;

/// verify() of a reduction. The first difference by (node, block), a wrong set of contributors before wrong bytes; none if there is none.
/// The expected result is combined once, from all contributions: O(nodes * vector + bytes held), on all workers.
std::optional<WrongDelivery> verify_reduction(const Members& members, const Payload& payload, std::uint64_t seed, Executor& executor);

}  // namespace detail

/// The first difference between what the nodes of the payload's slab hold and what the placement says they must hold at the end; none if
/// there is none. O(bytes held), on all workers; the result does not depend on them.
std::optional<WrongDelivery> verify(const detail::Members& members, const detail::Payload& payload, std::uint64_t seed, Executor& executor);

}  // namespace torus
