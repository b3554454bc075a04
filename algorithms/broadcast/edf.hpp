/// Edge-disjoint fence broadcast: K segments on two pipelines at once, the even ones to the east and the odd ones to the south. The root
/// starts a segment in every step, and a node receives at most one and sends at most one in a step (see fence.hpp).
/// Machine  wormhole, 1 port, r x c meshes, tori and mixtures, any r, c (other dimensions of extent 1). On a torus with both sides even all
///          routes are single hops, and packet switching does. A route round takes the wrap-around link where there is one, else the way
///          back. One row or column: `pipeline`, which needs wormhole switching and does not use the wrap-around link.
/// Steps    1 + max(e1, e2) <= K + r + c: e1 = s + r + c - (c even: 0; c odd, r = 2: 2; else 1) with the last even segment s, e2 the same
///          with the last odd segment and r and c exchanged. One row or column of p nodes: K + p - 2.
/// Header   none: all follows from K, the root and the number of a segment.   Memory  O(1) a node.
/// Source   Barnett, Payne, van de Geijn & Watts, "Pipelined Broadcast".
#pragma once

#include <torus/algorithm.hpp>

namespace torus::broadcast {

extern const Algorithm edf;

/// The two dimensions of the fence: rows run along `column_dimension`.
struct FenceDimensions {
  Dimension row_dimension = 0;
  Dimension column_dimension = 1;
};

/// For machines whose two dimensions have at least 2 nodes each; `segments` is K, at least 1.
Program edf_program(Node& self, FenceDimensions dimensions, NodeId root, std::uint32_t segments);

}  // namespace torus::broadcast
