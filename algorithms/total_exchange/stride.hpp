/// Total exchange in strides of w = 2k nodes, by bundles, through one port and without sharing a channel (k counts the dimensions of more
/// than one node; w must divide their sides).
///
/// Write delta_i = r_i + w b_i with r_i in -(k-1)..k and b_i in -n_i/2w..n_i/2w (the tie forwards or backwards, class about). A node's
/// colour is (sum of its coordinates) mod w, and there are w directions: (dimension 0, +) .. (dimension k-1, +), (dimension 0, -) ... In
/// stage s = 0..w-1 colour c sends, in direction (c + s) mod w, messages of w hops with everything that has strides left there. A stride
/// leads to a node of the same colour, and in each line one colour sends in each direction: its messages tile the ring. What is left, r_i
/// in each dimension, goes hop by hop, as in the dimension-wise exchange.
///
/// Machine  wormhole, one port, torus.   Header, memory  as every bundled exchange (bundled_exchange.hpp), a timetable a colour.
/// Steps    2k max floor(n_i/4k) + k(2k - 1).
///          Blocks on the busiest channel  about N n_max/8 + N k^2/2: 2k times fewer than hop by hop on large tori.
/// Source   this project; of the kind of Tseng, Lin, Gupta, Panda 1997.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::exchange {

extern const Algorithm stride;

}  // namespace torus::exchange
