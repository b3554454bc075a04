/// Broadcast by network spanning on a square torus. Stage i covers the i-th line of supernodes by the splitting rule; each supernode is a
/// copy of the subgroup that the earlier stages have reached. Tracks of one to four legs keep the messages of a step apart.
/// Machine  circuit, 1 to 2k ports, no channel shared, torus n x .. x n, any n, any k.   Memory  O(1) a node.
/// Steps    k ceil(log_{ports+1} n): at most k-1 above ceil(log_{ports+1} N), equal to it where n is a power of ports+1.
/// Header   the length of the child's segment; the stage follows from the step.
/// Source   Wang, Tseng, Ni & Sheu, Theorems 1, 2, 5, 6 and section 5; for odd ports the owner's place as in common/segment.hpp.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::broadcast {

extern const Algorithm span;

/// The program of a node; the root is the node that holds the message. `stage_steps` = ceil(log_{ports+1} n).
Program span_program(Node& self, Step stage_steps);

}  // namespace torus::broadcast
