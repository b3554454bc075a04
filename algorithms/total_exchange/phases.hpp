// SPDX-License-Identifier: MIT
/// Total exchange over all ports on any product of rings, lines and complete graphs, in phases: the dimension with the most to carry never
/// pauses.
///
/// Equal extents: the closed form of equal_phases.hpp. Else the exchanges along a dimension take the classes by rank: the classes are put
/// in order by how far they go altogether, sum of delta_j / n_j modulo 1, and along dimension i (extents ascending) those of one offset are
/// numbered in this order, from a start of its own for each dimension. If then a class would be in two dimensions at once, the dimensions
/// are gone through one after the other, those with the longest exchanges first, and the classes of each offset are matched with exchanges
/// that leave them out of two at once, as near to their rank as may be; if even that fails, with another order of the classes,
/// pseudo-random, always the same. Machine  packet, all ports, any topology. Steps    max over i of (N/n_i) T_i; meets bound (4) on every
/// mesh. Header   none.   Memory  that of phase_schedule.hpp. Source   this project, beyond Dimakopoulos & Dimopoulos, A theory for total
/// exchange in multidimensional interconnection networks.
#pragma once

#include <optional>
#include <vector>

#include "algorithms/catalogue.hpp"

namespace torus::exchange {

extern const Algorithm phases;

/// For each dimension that has links, for each class its exchange: assignment[i][delta].
using ExchangeAssignment = std::vector<std::vector<std::uint32_t>>;

/// Attempt 0: by rank, which is yet to be checked by one_dimension_at_a_time(). From 1: by matching, none if that fails; from 2: with a
/// pseudo-random order.
std::optional<ExchangeAssignment> assign_exchanges(const Topology& topology, std::uint32_t attempt);

}  // namespace torus::exchange
