/// Scatter-collect broadcast dimension by dimension: scatter in the root's column, then in every row; collect in every row, then in every
/// column (scatter_collect.hpp). Made for two dimensions; the same program serves any number.
/// Machine  wormhole, 1 port, meshes and tori (whose wrap-around links it leaves alone) of any extents and any number of dimensions, at
/// most 65535
///          nodes.
/// Steps    sum over d of ceil(log2 n_d) + n_d - 1; the model time is that many T_s + 2 (p-1)/p n T_c where p divides n. For long messages.
/// Header   none.   Memory  O(1) a node beside the names of its p pieces, a table of p block ids for all.
/// Source   Barnett, Payne, van de Geijn & Watts, "2-D Scatter-Collect".
#pragma once

#include <torus/algorithm.hpp>

namespace torus::broadcast {

extern const Algorithm scatter_collect_2d;

}  // namespace torus::broadcast
