/// Which partition, balance and rings the hierarchical broadcasts take: those of the request, or else of the least model time.
#pragma once

#include <array>
#include <string_view>

#include <torus/algorithm.hpp>

#include "algorithms/multinode_broadcast/hierarchy.hpp"

namespace torus::multinode {

inline constexpr std::array<std::string_view, 3> balances{"none", "hash", "split"};  // in the order of Hierarchy::Balance

/// For s sources. Nothing is balanced if all nodes are sources, or if that is the fastest wherever the sources are; pieces have a byte
/// each, and there is room for their blocks.
Hierarchy choose_hierarchy(const Machine& machine, const Request& request, Hierarchy::Dcn dcn, double s);

}  // namespace torus::multinode
