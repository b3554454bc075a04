/// What a program has thrown, with the node and the step.
#pragma once

#include <exception>
#include <optional>

#include <torus/machine.hpp>
#include <torus/topology.hpp>

namespace torus::detail {

/// Throws again what a node's program threw in a step, or what made the program before the first step. The text begins with step and node.
/// An InputError stays one and std::bad_alloc is thrown as it was; all else becomes a RunError. What was thrown is nested in it.
[[noreturn]] void rethrow_naming(const Topology& topology, NodeId node, std::optional<Step> step, const std::exception_ptr& thrown);

}  // namespace torus::detail
