/// Broadcast dimension by dimension, in the machine's routing order: a stage covers the lines of one dimension through the nodes reached so
/// far, by recursive doubling (one port) or tripling.
/// Machine  wormhole, dimension-ordered, any ports (2 are used on rings and lines, all on complete dimensions), no channel shared.
///          Packet switching does where all dimensions are complete or of extents 1 and 2.
/// Memory   O(1) a node.
/// Steps    the sum over the dimensions of the steps of one (sides.hpp), each the minimum for a single dimension.
/// Header   the length of the child's segment, and the step in which the next dimension begins.
/// Source   recursive doubling; as Wang, Tseng, Ni & Sheu's remark on one and two ports suggests (section 3.2.3).
#pragma once

#include <torus/algorithm.hpp>

namespace torus::broadcast {

extern const Algorithm dimension_wise;

/// The program of a node; the root is the node that holds the message.
Program dimension_wise_program(Node& self);

}  // namespace torus::broadcast
