/// What all nodes of `stars` know, and how many pieces it takes.
#pragma once

#include <cstdint>

#include <torus/algorithm.hpp>

#include "algorithms/reduction/star_trees.hpp"
#include "algorithms/reduction/window_classes.hpp"

namespace torus::reduction {

struct Stars {
  static constexpr std::uint32_t most_pieces = 64;

  /// For the number of pieces that is asked for. Else it packs the worms for the most promising ones, and takes what needs least time.
  static Stars choose(const Machine& machine, const Request& request, PlanCache& cache);

  std::uint64_t steps() const noexcept { return 2 * windows.rounds().size() + trees.steps(); }
  /// Pieces on the fullest channel, summed over the steps.
  std::uint64_t channel() const noexcept { return 2 * windows.channel() + trees.steps(); }

  WindowClasses windows;
  StarTrees trees;
};

}  // namespace torus::reduction
