/// Total exchange in which every block goes straight from its origin to its destination in one step, through one port, and in every step
/// every channel of the machine carries exactly one block (sides of at least 8): no exchange through one port moves fewer bytes.
///
/// One ring of n = 4q nodes, h = n/2. The complete graph on Z_h has h - 1 disjoint perfect matchings of q pairs. A pair x < y, d = y - x,
/// makes a forward pattern: x goes +d, y +(h-d), x+h +d, y+h +(h-d), which crosses each forward channel once and permutes its four nodes;
/// and, on the same nodes, a backward one: x goes d-h, y -d, and so x+h, y+h. One more class, of the pairs of matching 0: forwards x, x+h
/// go +h and y, y+h nowhere; backwards y, y+h go -h and x, x+h nowhere. So h classes of q node-disjoint patterns; every (node, offset)
/// once.
///
/// A product of patterns, one a dimension, is a set of 4^k messages, dimension-ordered, that share no channel. A step takes, for a
/// vector v of directions with v_0 = +, a class in each dimension and a shift: all products whose pattern numbers add up to the shift,
/// modulo q of the largest side, in the directions v; and beside them, on other nodes, those for shift + 1 in the directions -v.
///
/// Machine  wormhole in any routing order, one port, torus with sides multiples of 4.   Header  none.
/// Steps    N n_max/8; N where no side is above 4.   Blocks on the busiest channel  the same.
/// Memory   O(1) a node, and 6 n^2 bytes a ring of n nodes, shared by all; n at most 5792, which makes 192 MiB.
/// Source   this project: the k-dimensional form of the classic ring patterns.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::exchange {

extern const Algorithm direct;

}  // namespace torus::exchange
