/// All-reduce and barrier in as many steps as the diameter: along one dimension after the other everybody tells everybody, one hop a step.
///
/// A node sends what it has combined before the phase to both neighbours, and passes on what comes from behind. A partial on its way is in
/// a register of its own (1: going up, 2: going down), so that each arrival can be combined with register 0 and still be passed on alone.
/// The vector goes along the dimensions whole, or (`exchange-rotated`) in one part a dimension, each of which begins at another.
/// Machine  any mix of rings, lines and complete dimensions; packet (single hops), no channel shared. Two ports, and one for each other
///          node of a complete dimension; rotated: all.
/// Steps    the sum of the reaches D, which is optimal; rotated k max reach, which is D where all reaches are equal. A ring's reach is
///          floor(n/2), a line's n-1, a complete dimension's 1.
/// Bytes    D m; rotated k max reach m/k.   Memory  3 vectors a node, one where no reach exceeds 1.
/// Barrier  the same messages without blocks: 0 bytes.
/// Source   this project.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::reduction {

extern const Algorithm exchange_allreduce;
extern const Algorithm exchange_rotated_allreduce;
extern const Algorithm exchange_barrier;

}  // namespace torus::reduction
