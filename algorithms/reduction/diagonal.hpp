/// All-reduce and barrier in the fewest steps known where no channel is shared: gather to the diagonal, exchange there, spread.
///
/// The diagonals of the torus are numbered by o = i - j. In balanced quinary all rows and columns gather on the main diagonal at once, as
/// in the multi-node broadcast `log`. Its n nodes exchange in growing windows (window_rounds, two pieces a round): one piece travels up a
/// column and along a row, the other the other way round. Each row and column has one node of the diagonal, so nothing meets. Then the
/// results go back the way that the partials came. Circuits, n = 5^p: four pieces a round, +-t along one route and +-2t along the other.
/// Machine  square 2-D torus, all ports, no channel shared; wormhole in any routing order, or circuits.   Header  none.
/// Steps    2 ceil(log5 n) + ceil(log3 n); circuits, n = 5^p: 3 log5 n.   Bytes  steps m.   Memory  2 vectors a node.
/// Barrier  the same messages without blocks: 0 bytes.
/// Source   this project; the trees are those of Chen, Chen & Tseng's multi-node broadcast, section 3.1.1, the windows Bruck & Ho's.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::reduction {

extern const Algorithm diagonal_allreduce;
extern const Algorithm diagonal_barrier;

}  // namespace torus::reduction
