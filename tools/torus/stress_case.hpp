/// Random settings for the stress: machines of all kinds, with holes for the algorithms that live with them, sources of all kinds, sizes of
/// all kinds. Knows no algorithm by name.
#pragma once

#include <optional>

#include "tools/torus/random.hpp"
#include "tools/torus/setting.hpp"

namespace torus::command {

/// What a single run of the stress may take.
struct StressBudget {
  Bytes payload = Bytes{48} << 20U;           ///< all blocks of all nodes
  double node_steps = 2e7;                    ///< steps times nodes
  std::uint64_t exchange_blocks = 1U << 18U;  ///< of a total exchange
  double deliveries = 1U << 21U;              ///< blocks of all sources times nodes
  std::uint64_t nodes = 4096;
};

/// 1 to 6 dimensions; extents 1, 2, 3, primes, powers, unequal, long and thin; rings, lines, complete.
Topology draw_shape(Random& random, std::uint64_t most_nodes);

/// A setting that the algorithm does not refuse; none if none was met in many draws. Where it refuses what was drawn and says what would
/// do, that is taken, so that few draws are in vain. A function of the random numbers alone.
std::optional<Setting> draw_setting(Random& random, const Algorithm& algorithm, const StressBudget& budget);

/// The same request on another machine or the like: settles the plan anew. None if the algorithm refuses it.
/// Where its shape and its sources are the same, these are written as before.
std::optional<Setting> settle(const Algorithm& algorithm, Machine machine, Request request, const Setting& like);

}  // namespace torus::command
