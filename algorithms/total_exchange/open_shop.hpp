/// Total exchange over all ports on any torus, in as many steps as the bound allows: an open shop.
///
/// All nodes do the same with a class at the same time, so a class is a job that needs |h_i| unit operations on machine (i, sign of h_i),
/// the channels of dimension i in that direction, h its shortest hops, in any order of the dimensions. Every node keeps the same table of
/// what is on which machine when; it is made once a run and shared. Ties (half way round a ring) alternate between the directions.
/// Where n_i is even and N/n_i odd (one dimension at most) they do not come out even: there the classes that move along i alone are left
/// out, and two jobs of ceil(n_i^2/8) operations step through the exchange of all_port_line.hpp, which divides its ties by node.
/// A line of 2 is one machine: the two ends of a link exchange. A complete dimension is one machine for each offset.
///
/// Machine  packet, all ports; any product of rings, lines of 2 (hypercubes) and complete graphs.
/// Steps    max(C4, diameter), C4 bound (4): max over i of ceil((N/n_i) floor(n_i^2/4) / 2) for rings, N/n_i for complete graphs and
///          lines of 2.
/// Header   none.   Memory  O(1) a node; 16 bytes a hop of a class, shared by all nodes.
/// Source   this project, beyond Dimakopoulos & Dimopoulos, A theory for total exchange in multidimensional interconnection networks.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::exchange {

extern const Algorithm open_shop;

}  // namespace torus::exchange
