/// Stars of paths in one step: some nodes of a class are centres, and other nodes of the class send to them. No channel is crossed twice.
///
/// A node that may become a centre looks for the nearest nodes of its class whose paths find their channels free. Those that find one for
/// each port become centres first, then those that find fewer, down to one. This is tried in several random orders, always the same ones.
/// In most of them centres that repeat over the torus come first. The order that leaves the fewest nodes is taken.
/// Source   this project.
#pragma once

#include <optional>
#include <vector>

#include <torus/machine.hpp>
#include <torus/route.hpp>

#include "algorithms/search/sublattice.hpp"

namespace torus::reduction::stars {

struct Path {
  NodeId from, to;
  Route route;
};
using Paths = std::vector<Path>;

/// Steps of stars, each among the nodes that have not sent before.
struct Levels {
  std::vector<Paths> paths;
  std::vector<std::vector<bool>> active;  ///< nodes that have not sent: before the first level and after each
};

/// Levels on a torus until one node of each class is left, or the nodes that are kept: none, or at least one of each class. The classes are
/// the cosets of the sublattice.
Levels pack_levels(const Machine& machine, const Sublattice& classes, std::vector<bool> kept);

/// Paths from every giver to all takers of its class but itself, in one step. None if the ports do not suffice, or if no order that was
/// tried finds all channels free. The orders are random, but always the same, and half of them have the longest paths first.
std::optional<Paths> all_to_all(const Machine& machine, const Sublattice& classes, const std::vector<bool>& givers,
                                const std::vector<bool>& takers);

/// Memory that pack_levels() takes at most.
Bytes levels_bytes(const Topology& topology) noexcept;

}  // namespace torus::reduction::stars
