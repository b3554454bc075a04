/// Total exchange with one port on any product of rings, lines and complete graphs, dimension by dimension, the last first.
///
/// Algorithm A2 on G = A x B: for each r in A, an exchange in all copies of B of what goes to (r, .); then for each w in B, an exchange in
/// all copies of A of what came from (., w). With A one dimension and B the product of the later ones, in turn exchanged by A2, this is:
/// along dimension i, one exchange for each choice of the destination's coordinates before i and of the origin's coordinates behind i.
/// Machine  packet, one port, any topology.
/// Steps    sum over i of (N/n_i) T_i, T_i the steps of one exchange along dimension i; meets bound (3) on tori, hypercubes and
///          generalised hypercubes.
/// Header   none.   Memory  O(1) a node.
/// Source   Dimakopoulos & Dimopoulos, A theory for total exchange in multidimensional interconnection networks: algorithm A2.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::exchange {

extern const Algorithm a2;

/// The program of a node.
Program a2_program(Node& self);

}  // namespace torus::exchange
