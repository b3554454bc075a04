/// Broadcast dimension by dimension, in the machine's routing order: a stage covers the lines of one dimension through the nodes reached so
/// far, by recursive doubling (one port) or tripling.
/// Machine  wormhole, dimension-ordered, any ports (2 are used on rings and lines, all on complete dimensions), no channel shared.
///          Where all dimensions are complete or of extents 1 and 2, packet switching will do.
/// Memory   O(1) a node.
/// Steps    the sum over the dimensions, with a ports, of
///            one port                  ceil(log_2 n)
///            two or more on a ring     ceil(log_3 n)
///            two or more on a line     ceil(log_3 (2m+1)), m the places on the longer side of the root
///            on a complete dimension   ceil(log_{a+1} n)
///          Each the fewest that a single dimension allows: on a line r places on one side are told over a single channel, and after t
///          steps at most 1 + 3 + .. + 3^{t-1} = (3^t-1)/2 of them know, for each step adds one over that channel and two for each who
///          knows there.
/// Header   the length of the child's segment, and the step in which the next dimension begins.
/// Source   recursive doubling; as what Wang, Tseng, Ni & Sheu's remark on one and two ports asks for (section 3.2.3).
#pragma once

#include <torus/algorithm.hpp>

namespace torus::broadcast {

extern const Algorithm dimension_wise;

/// Places still to be told on the left and on the right of a node, along one dimension.
struct Sides {
  std::int32_t left = 0;
  std::int32_t right = 0;
  friend bool operator==(const Sides&, const Sides&) = default;
};

/// The sides of a node that begins a dimension: all of a line; a ring is cut where the splitting rule wants it.
Sides sides_of_first(Wiring wiring, std::int32_t extent, std::int32_t coordinate, std::int32_t ports) noexcept;

/// Steps that one dimension takes from there; `ports` as usable_ports() says.
Step steps_of(Wiring wiring, Sides sides, std::int32_t ports) noexcept;

/// Ports of the machine that a dimension can use: two, on a complete one as many as it has neighbours.
std::int32_t usable_ports(Wiring wiring, std::int32_t extent, std::int32_t ports) noexcept;

/// The program of a node; the root is the node that holds the message.
Program dimension_wise_program(Node& self);

}  // namespace torus::broadcast
