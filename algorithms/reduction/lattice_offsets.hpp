/// Offsets of `lattice`: how they are made, and those known for some tori.
#pragma once

#include <optional>
#include <vector>

#include <torus/topology.hpp>

#include "algorithms/reduction/lattice_table.hpp"

namespace torus::reduction {

/// Adds an offset that is new to the step, by the shorter way round each ring.
void add_offset(const Topology& topology, std::vector<Offset>& step, const Offset& offset);

/// A vector and what (x_1, .., x_k) -> (-x_k, x_1, ..) makes of it, over the dimensions with links.
std::vector<Offset> turned_offsets(const Topology& topology, Offset offset);

/// Perfect codes where n = 5^p, and what longer searches have found; none for other tori.
std::optional<Offsets> known_offsets(const Topology& topology);

}  // namespace torus::reduction
