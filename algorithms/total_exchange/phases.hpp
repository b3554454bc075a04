// SPDX-License-Identifier: MIT
/// Total exchange over all ports on any product of rings, lines and complete graphs, in phases: the dimension with the most to carry never pauses.
///
/// Equal extents: the closed form of equal_phases.hpp. Else the exchanges along a dimension take the classes by rank: the classes are put in order by
/// how far they go altogether, sum of delta_j / n_j modulo 1, and along dimension i (extents ascending) those of one offset are numbered in this
/// order, from a start of its own for each dimension. If then a class would be in two dimensions at once, other orders are tried, ties reversed,
/// then pseudo-random ones, always the same.
/// Machine  packet, all ports, any topology.
/// Steps    max over i of (N/n_i) T_i; meets bound (4) on every mesh.
/// Header   none.   Memory  that of phase_schedule.hpp.
/// Source   this project, beyond Dimakopoulos & Dimopoulos, A theory for total exchange in multidimensional interconnection networks.
#pragma once

#include <optional>
#include <vector>

#include "algorithms/catalogue.hpp"

namespace torus::exchange {

extern const Algorithm phases;

/// The exchange by rank of each class along each dimension that has links: table[i][delta]. Attempt 0 is the order above, 1 with ties reversed, the
/// others are pseudo-random. To be checked by one_dimension_at_a_time().
std::vector<std::vector<std::uint32_t>> exchanges_by_rank(const Topology& topology, std::uint32_t attempt);

}  // namespace torus::exchange
