/// Multi-node broadcast in a logarithmic number of steps on n x .. x n nodes: gather to the plane sum x = 0, exchange there, spread.
///
/// Every line of the torus has exactly one node of each diagonal sum x = c (mod n).
///   deal      pieces of each message go to the nodes 1 .. reach places away in k directions that keep the diagonal, all nodes alike.
///             Pieces of one source then take different lines, and few sources load a channel less (left out for reach = 0)
///   gather    diagonal by diagonal to the plane c = 0. lines: k parts, part a along axis a, in balanced ternary. diagonals: whole messages
///             in the base 2k+1, the children of a slot along one axis, as `log` does for k = 2
///   exchange  all-gather in the plane (plane_exchange.hpp)
///   spread    the way of the gather, backwards
/// Machine  n x .. x n torus, wormhole in any routing order, all ports, no channel shared.
/// Memory   O(s) words a node, and tables of O(N k) words for all.
/// Steps    reach + 2 ceil(log_b n) + exchange, b = 3 or 2k+1; exchange = ceil(log_{k+1} n^(k-1)), at times 1 more.
/// Bytes    few sources: about (2 steps / (pieces parts)) m each; all: (steps of the spread / parts) N m, and N m / k for the exchange.
/// Header   none.   Source  this project; diagonals after Chen, Chen & Tseng.
#pragma once

#include <torus/algorithm.hpp>

#include "algorithms/multinode_broadcast/bundle.hpp"
#include "algorithms/multinode_broadcast/hyperplane_scheme.hpp"

namespace torus::multinode {

extern const Algorithm hyperplane;

/// Every node's bundle ends with the ids of all: of blocks, or of blocks in whose place words travel.
Program hyperplane_program(Node& self, const HyperplaneScheme& scheme, Cargo cargo, Bundle& bundle);

}  // namespace torus::multinode
