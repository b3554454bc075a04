/// The offsets of `lattice`: known ones, and a seeded, bounded search.
#pragma once

#include <torus/topology.hpp>

#include "algorithms/reduction/lattice_table.hpp"

namespace torus::reduction {

/// The table with the fewest steps found, and of those the one with the fewest bytes. Deterministic; O(N) memory.
LatticeTable find_lattice(const Topology& topology);

}  // namespace torus::reduction
