/// Total exchange over all ports where all dimensions are alike, in phases: in each, one exchange along every dimension, side by side.
/// 2^j dimensions: the paper's algorithm A3. Any other number: the closed form (equal_phases.hpp).
/// Machine  packet, all ports; k dimensions of the same extent n and wiring.
/// Steps    n^(k-1) T_1, T_1 those of one exchange; meets bound (4) on lines, and on rings where n is odd or a multiple of 4.
/// Header   none.   Memory  that of phase_schedule.hpp.
/// Source   Dimakopoulos & Dimopoulos, A theory for total exchange in multidimensional interconnection networks: algorithm A3.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::exchange {

extern const Algorithm a3;

}  // namespace torus::exchange
