/// The memory that a run may use, and the text that refuses one that needs more.
#pragma once

#include <string>

#include <torus/engine.hpp>

#include "runtime/engine/members.hpp"
#include "runtime/engine/processes/slab.hpp"

namespace torus::detail {

/// A size that no host has. Products stop here, so that sums of a few of them do not overflow.
inline constexpr Bytes out_of_reach = Bytes{1} << 60U;

/// The estimate for the process of a slab.
MemoryEstimate estimate_of(const Machine& machine, const Members& members, const Slab& own, const ProgramMemory& programs,
                           unsigned workers);

/// "a run of 16 nodes and 16 blocks of 1024 bytes needs 2 GiB (blocks ..) and 1 GiB may be used; ".
std::string excess_text(const MemoryEstimate& estimate, Bytes limit, const Machine& machine, const Members& members, const Slab& own);

/// Throws InputError if the estimate is above the limit; the text names the longest blocks that would fit.
void refuse_too_large(const MemoryEstimate& estimate, Bytes limit, const Machine& machine, const Members& members, const Slab& own,
                      unsigned workers);

/// Bytes for messages and for copies beyond those that nodes want: the rest of the limit, with a small minimum.
Bytes spare_bytes(const MemoryEstimate& estimate, Bytes limit) noexcept;

}  // namespace torus::detail
