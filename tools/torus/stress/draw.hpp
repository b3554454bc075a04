/// Random settings for the stress: machines of all kinds, with holes for the algorithms that live with them, sources of all kinds, sizes of
/// all kinds. Knows no algorithm by name.
#pragma once

#include <optional>

#include "tools/torus/setting/random.hpp"
#include "tools/torus/setting/setting.hpp"
#include "tools/torus/stress/draw_shape.hpp"

namespace torus::command {

/// What a single run of the stress may take.
struct StressBudget {
  Bytes payload = Bytes{48} << 20U;           ///< all blocks of all nodes
  double node_steps = 2e7;                    ///< steps times nodes
  std::uint64_t exchange_blocks = 1U << 18U;  ///< of a total exchange
  double deliveries = 1U << 21U;              ///< blocks of all sources times nodes
  std::uint64_t nodes = 4096;
  bool uneven = false;  ///< only settings whose blocks differ in size
};

/// Whether two blocks of a request differ in size.
bool sizes_differ(const Topology& topology, const Request& request);

/// A setting that the algorithm does not refuse; none if none was met in many draws. Where it refuses what was drawn and says what would
/// do, that is taken, so that few draws are in vain. A function of the random numbers alone.
std::optional<Setting> draw_setting(Random& random, const Algorithm& algorithm, const StressBudget& budget);

/// The same request on another machine or the like: settles the plan anew. None if the algorithm refuses it.
/// Where its shape and its sources are the same, these are written as before.
std::optional<Setting> settle(const Algorithm& algorithm, Machine machine, Request request, const Setting& like);

/// The faults of another shape that a new one has at the same coordinates. `kept` says which old dimension each new one was.
Faults carried_over(const Topology& old, const Topology& shape, const std::vector<Dimension>& kept);

/// Smaller sets of faults: none, those of one kind gone, each without one.
std::vector<Faults> fewer_faults(const Faults& faults);

}  // namespace torus::command
