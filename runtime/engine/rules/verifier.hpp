/// The verifier: compares every block at every node, byte for byte; in a reduction, first whose contributions each block has.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <torus/executor.hpp>
#include <torus/placement.hpp>
#include <torus/result.hpp>

namespace torus {

namespace detail {

class Members;
struct Payload;

/// verify() of a reduction. The first difference by (node, block), a wrong set of contributors before wrong bytes; none if there is none.
/// The expected result is combined once, from all contributions: O(nodes * vector + bytes held), on all workers.
std::optional<WrongDelivery> verify_reduction(const Members& members, const Payload& payload, std::uint64_t seed, Executor& executor,
                                              std::optional<double>& error_ulp);

/// Whether all nodes of a group must have results of the same bits, which verify() does not see: where the order of combining matters.
bool must_agree(const Placement& placement) noexcept;
/// The hash of each segment at the first living node of each group, by group and segment; 0 where another process has the node.
std::vector<std::uint64_t> agreed_hashes(const Members& members, const Payload& payload);
/// The first segment, by (node, segment), whose hash is not the agreed one.
std::optional<WrongDelivery> first_disagreement(const Members& members, const Payload& payload, std::span<const std::uint64_t> agreed,
                                                Executor& executor);

}  // namespace detail

/// The first difference between what the nodes of the payload's slab hold and what the placement says they must hold at the end; none if
/// there is none. O(bytes held), on all workers; the result does not depend on them. error_ulp: RunResult's.
std::optional<WrongDelivery> verify(const detail::Members& members, const detail::Payload& payload, std::uint64_t seed, Executor& executor,
                                    std::optional<double>& error_ulp);

}  // namespace torus
