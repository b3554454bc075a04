/// Which of the N/n_i exchanges along each dimension carries which class, where extents differ: so that no class is in two dimensions at
/// once although the exchanges along different dimensions take differently long.
///
/// The classes are put in order by how far they go altogether, sum of delta_j / n_j modulo 1, and along dimension i (extents ascending)
/// those of one offset are numbered in this order, from a start of its own for each dimension. If then a class would be in two dimensions
/// at once, the dimensions are gone through one after the other, those with the longest exchanges first, and the classes of each offset are
/// matched with exchanges that leave them out of two at once, as near to their rank as may be; if even that fails, with another order of
/// the classes, pseudo-random, always the same.
/// Source   this project, beyond Dimakopoulos & Dimopoulos, A theory for total exchange in multidimensional interconnection networks.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <torus/topology.hpp>

namespace torus::exchange {

/// For each dimension that has links, for each class its exchange: assignment[i][delta].
using ExchangeAssignment = std::vector<std::vector<std::uint32_t>>;

/// Attempt 0: by rank, which is yet to be checked by one_dimension_at_a_time(). From 1: by matching, none if that fails; from 2: with a
/// pseudo-random order.
std::optional<ExchangeAssignment> assign_exchanges(const Topology& topology, std::uint32_t attempt);

/// The first attempt that keeps every class out of two dimensions at once; none among so many.
std::optional<ExchangeAssignment> assign_exchanges_legally(const Topology& topology, std::uint32_t most_attempts);

}  // namespace torus::exchange
