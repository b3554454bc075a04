/// What an exchange may need of the machine. Each says, in one line, why the machine will not do and what would; nothing where it will.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <torus/machine.hpp>

#include "algorithms/common/linked_dimensions.hpp"
#include "algorithms/common/refusal.hpp"

namespace torus::exchange {

using refusal::first_of;
using refusal::Refusal;

Refusal needs_ports(std::string_view algorithm, const Machine& machine, int ports);
Refusal needs_sharing(std::string_view algorithm, const Machine& machine);
/// Worms along a ring, half way round at most, that overlap: up to an extent of 3 they are of one hop and any machine takes them.
Refusal needs_overlapping_worms(std::string_view algorithm, const Machine& machine);
/// A run holds at most 2^32 blocks; said before tables are made for more nodes than that.
Refusal needs_countable_blocks(std::string_view algorithm, const Machine& machine);
/// Entries of a table that all nodes share: some hundred MiB.
inline constexpr std::uint64_t most_tabled = std::uint64_t{1} << 24U;
/// A schedule of so many steps is kept as a table: at most most_tabled.
Refusal needs_tabled_steps(std::string_view algorithm, const Machine& machine, std::uint64_t steps);
/// Every extent but those of 1 must be a multiple of `unit`; `why` says what the unit is.
Refusal needs_multiples(std::string_view algorithm, const Machine& machine, std::int32_t unit, std::string_view why);

/// The largest extent; 1 for a single node.
std::int32_t largest_extent(const Topology& topology) noexcept;

}  // namespace torus::exchange
