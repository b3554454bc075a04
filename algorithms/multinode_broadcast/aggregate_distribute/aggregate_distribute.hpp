/// The last phases of `aggregate-distribute`: along the rows and the columns of the DCNs.
///
/// rows     a window of h nodes around each DCN-diagonal node takes its bundle, in balanced ternary.
/// columns  bundles go round a ring of the h nodes of a column, 0, 2, 4, .., 5, 3, 1: the even places downwards and the odd ones upwards.
///          So the ring has dilation 2 and uses no channel twice. Each node passes on what it got last. Confined to the DCN.
/// Machine  torus, wormhole (single legs); one send a step.   Steps  rows ceil(log3 h), columns h - 1.   Header  none.
/// Source   Chen, Chen & Tseng, section 3.2.2.
#pragma once

#include <torus/program.hpp>

#include "algorithms/multinode_broadcast/line_tree.hpp"

namespace torus::multinode_broadcast::aggregate_distribute {

/// The row broadcast of the paper: the bundle of the DCN-diagonal nodes of a 2-D torus along dimension 1, over a window of h nodes.
Program broadcast_row(Node& self, const LineTree& window, Bundle& bundle);

/// Hops from place y of a column to the next of the ring; h >= 2.
constexpr std::int32_t column_ring_hop(std::int32_t y, std::int32_t h) noexcept {
  if (y % 2 == 1) return y == 1 ? -1 : -2;
  if (y + 2 < h) return +2;
  return h % 2 == 0 ? +1 : -1;
}

Program column_ring(Node& self, std::int32_t h, Bundle& bundle);

}  // namespace torus::multinode_broadcast::aggregate_distribute
