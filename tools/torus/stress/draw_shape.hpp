/// Random shapes for the stress, with holes, and machines of which they are groups.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include <torus/machine.hpp>

#include "tools/torus/setting/random.hpp"

namespace torus::command {

/// 1 to 6 dimensions; extents 1, 2, 3, primes, powers, unequal, long and thin; rings, lines, complete.
Topology draw_shape(Random& random, std::uint64_t most_nodes);

/// The shape with some faults, or with none; what is left of it is in one piece. Without `holes` nothing is dead, and links may be slow.
Topology draw_faults(Random& random, const Topology& shape, bool holes);

/// The shape with those of the faults, by their order, that it can have.
Topology with_possible(const Topology& shape, const Faults& faults);

/// A machine of which groups look like this one: it gets another dimension, or lines become parts of longer sides. None if it cannot be.
std::optional<std::pair<Machine, std::string>> draw_around(Random& random, const Machine& group, std::uint64_t most_nodes);

}  // namespace torus::command
