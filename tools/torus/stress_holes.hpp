/// Dead links, dead nodes and slow links for the stress: drawn, carried over to smaller shapes, and left out one by one.
#pragma once

#include <vector>

#include <torus/topology.hpp>

#include "tools/torus/random.hpp"

namespace torus::command {

/// The shape with some faults, or with none; what is left of it is in one piece. Without `holes` nothing is dead, and links may be slow.
Topology draw_faults(Random& random, const Topology& shape, bool holes);

/// The shape with those of the faults, by their order, that it can have.
Topology with_possible(const Topology& shape, const Faults& faults);

/// The faults of another shape that a new one has at the same coordinates. `kept` says which old dimension each new one was.
Faults carried_over(const Topology& old, const Topology& shape, const std::vector<Dimension>& kept);

/// Smaller sets of faults: none, those of one kind gone, each without one.
std::vector<Faults> fewer_faults(const Faults& faults);

}  // namespace torus::command
