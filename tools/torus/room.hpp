/// Whether a request can fit into memory at all. To be asked before anything is planned: the engine's own reckoning needs the plan and the
/// placement of all blocks, and where these do not fit either, they take minutes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <torus/catalogue.hpp>

namespace torus::command {

/// Why not, if what the nodes must hold in the end takes more than `limit`, whatever the algorithm: one line; none if it may fit. `sources`
/// is ignored but by a multi-node broadcast. Time: O(1). A message is one block if `segments` is 0, as where the algorithm has the say.
std::optional<std::string> why_it_cannot_fit(Collective collective, const Topology& topology, Bytes bytes, std::uint64_t sources,
                                             std::uint32_t segments, Bytes limit);

/// Why not, if an algorithm's plan alone takes more than `memory` (0: what the host has): one line; none if it may fit. Time: O(1).
std::optional<std::string> why_it_cannot_be_planned(const Algorithm& algorithm, const Machine& machine, Bytes memory);

}  // namespace torus::command
