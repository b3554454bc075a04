/// What the plans of `edst` and `edst-pipelined` share.
#pragma once

#include <array>
#include <string_view>

#include <torus/algorithm.hpp>

#include "algorithms/common/parameters.hpp"
#include "algorithms/multinode_broadcast/forest.hpp"

namespace torus::multinode {

inline constexpr std::array tree_parameters{parameter::segments, parameter::chunk};

/// Trees of a source, at least 1.
std::uint32_t trees_on(const Machine& machine);
/// At most 8 dimensions, and segments that are a multiple of the trees.
std::optional<Refusal> needs_trees(std::string_view name, const Machine& machine, const Request& request);
/// Segments, memory and notes.
void describe_forest(Plan& plan, const Forest& forest, const Request& request);
Bytes forest_planning_bytes(const Machine& machine);

}  // namespace torus::multinode
