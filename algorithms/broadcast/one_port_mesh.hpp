/// What the one-port wormhole broadcasts for meshes have in common: the machine that they were made for, and reasons to refuse another.
#pragma once

#include <string_view>

#include <torus/algorithm.hpp>

#include "algorithms/common/refusal.hpp"

namespace torus::broadcast {

inline constexpr NativeMachine one_port_wormhole{.switching = Switching::wormhole, .contention = Contention::forbid, .ports = 1};

/// A complete dimension: these algorithms go along rings and lines.
refusal::Refusal refuses_wiring(std::string_view algorithm, const Machine& machine);

/// An extent that is no power of two.
refusal::Refusal refuses_extents(std::string_view algorithm, const Machine& machine);

}  // namespace torus::broadcast
