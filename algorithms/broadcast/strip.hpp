/// Strip: swath for one port. One part of the message, all messages in the + direction of a ring, spread by doubling.
///
/// With a and b two dimensions next to each other in cyclic order, and places counted from the source:
///   scatter   along b: piece i of h goes to column i
///   columns   along a: column i spreads its piece over the rows of class i (row_classes.hpp)
///   rows      along all dimensions but a, b first: every node of a row gets the piece of its class
///   gather    along a: every node takes the pieces that it lacks from the - side, a hop a step
/// With more pieces than that, whole dimensions are scattered before and gathered after: see swath.hpp. a is the dimension that makes the
/// least model time.
/// Machine  wormhole with any routing order, one port, any torus. All routes are straight.
/// Steps    R = L2(h) + L2(rows of a class, and the source's) + sum of L2(n_d) but n_a + (w-1), L2(x) = ceil(log_2 x), w the longest way
///          between two rows of a class.
/// Bytes    about (h-1 + the steps of columns and rows + w-1)/h m on the fullest channel, for m bytes; the plan's are exact. Near 2 m for
///          large h: the source sends the message once, and each node takes it once.
/// Header   none. Nodes know the source, as in any broadcast call.   Memory  O(1) a node beside its blocks.
/// Source   this project.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::broadcast {

extern const Algorithm strip;

}  // namespace torus::broadcast
