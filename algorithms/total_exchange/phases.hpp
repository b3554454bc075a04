/// Total exchange over all ports on any product of rings, lines and complete graphs, in phases: the dimension with the most to carry
/// never pauses. Which exchange along a dimension carries which class: equal_phases.hpp if all extents are equal, else unequal_phases.hpp.
/// Machine  packet, all ports, any topology.
/// Steps    max over i of (N/n_i) T_i; meets bound (4) on every mesh.
/// Header   none.   Memory  that of phase_schedule.hpp.
/// Errors   plan() throws InputError where extents differ and a hundred orders of the classes all fail; of 20,000 shapes none needed
///          a third.
/// Source   this project, beyond Dimakopoulos & Dimopoulos, A theory for total exchange in multidimensional interconnection networks.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::exchange {

extern const Algorithm phases;

}  // namespace torus::exchange
