// SPDX-License-Identifier: MIT
/// What the one-port wormhole broadcasts for meshes have in common: why a machine or a request is not for them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "algorithms/catalogue.hpp"

namespace torus::broadcast {

/// The machine that they were made for.
inline constexpr NativeMachine one_port_wormhole{.switching = Switching::wormhole, .contention = Contention::forbid, .ports = 1};

/// Refuses complete dimensions and switching that does not allow `needed`.
std::optional<std::string> refuses_machine(std::string_view algorithm, const Machine& machine, Switching needed = Switching::wormhole);

/// Refuses --segments other than `wanted`, the number that the algorithm cuts by itself.
std::optional<std::string> refuses_segments(std::string_view algorithm, const Request& request, std::uint64_t wanted = 1);

/// Refuses extents that are no powers of two.
std::optional<std::string> refuses_extents(std::string_view algorithm, const Machine& machine);

}  // namespace torus::broadcast
