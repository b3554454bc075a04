/// Multi-node broadcast in a logarithmic number of steps: aggregation-then-distribution with h = 1 and the ternary all-to-all.
///
/// Everything gathers on the main diagonal of the torus, is exchanged along it and spreads from it. The fewest steps of all, and the
/// most bytes: for small messages. On unequal sides the diagonal is a staircase, see staircase_scheme.
/// Machine  2-D torus, wormhole in ascending order, all ports, no channel shared.   Memory  O(s) words a node.
/// Steps    n x n: 2 ceil(log5 n) + ceil(log3 n), whatever the sources; unequal sides: see staircase_scheme.
/// Header   see diagonal_exchange (none for n <= 9).
/// Source   this project, from the phases of Chen, Chen & Tseng, section 3.2.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::multinode {

extern const Algorithm log;

}  // namespace torus::multinode
