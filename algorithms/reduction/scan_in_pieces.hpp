/// Scans in pieces of the vector: tables in which each piece of it has a root of its own in every line.
#pragma once

#include <vector>

#include <torus/machine.hpp>

#include "algorithms/reduction/scan_in_turns.hpp"

namespace torus::reduction {

/// None where it has no tables: shapes of other than two or three dimensions with links, large machines, dead links that a message needs.
std::vector<ScanTable> tables_in_pieces(const Machine& machine);

}  // namespace torus::reduction
