/// Every one of some nodes to all of some others in its class, in one step, by worms that cross no channel twice.
#pragma once

#include <optional>
#include <vector>

#include "algorithms/reduction/sublattice.hpp"
#include "algorithms/reduction/worm_channels.hpp"

namespace torus::reduction {

/// Nobody sends to itself. Nothing if the ports do not suffice, or if no order that was tried finds all channels free: random ones, but
/// always the same, and half of them with the longest ways first. The cosets are the classes.
std::optional<Worms> worm_exchange(const Machine& machine, const Sublattice& classes, const std::vector<bool>& givers,
                                   const std::vector<bool>& takers);

}  // namespace torus::reduction
