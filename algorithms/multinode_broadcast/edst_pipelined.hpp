/// The pipelined form of edst.hpp, with or without a given chunk.
#pragma once

#include <torus/algorithm.hpp>

#include "algorithms/multinode_broadcast/forest.hpp"

namespace torus::multinode {

extern const Algorithm edst_pipelined;

/// Also the plan of `edst` with a chunk.
Plan plan_edst_pipelined(const Machine& machine, const Request& request);

Program edst_pipelined_program(Node& self, const Forest& forest, std::uint32_t chunk);

}  // namespace torus::multinode
