/// The limit of schedules that are kept as a table of their steps.
#pragma once

#include <optional>
#include <string>

#include <torus/algorithm.hpp>

#include "algorithms/common/shapes.hpp"

namespace torus::exchange {

/// Entries of a table that all nodes share: some hundred MiB.
inline constexpr std::uint64_t most_tabled = std::uint64_t{1} << 24U;

/// A shape with more steps than a table may have is refused; steps_of(topology) grows with the extents.
template <class StepsOf>
std::optional<Refusal> needs_tabled_steps(std::string_view algorithm, const Topology& topology, StepsOf&& steps_of) {
  const std::uint64_t steps = steps_of(topology);
  if (steps <= most_tabled) return std::nullopt;
  return Refusal{Refusal::About::shape, topology.text(),
                 std::string(algorithm) + " keeps a table of at most " + std::to_string(most_tabled) + " steps, not " +
                     std::to_string(steps) + " (a2 keeps none)",
                 smaller(topology, [&](const Topology& t) { return steps_of(t) <= most_tabled; }).text()};
}

}  // namespace torus::exchange
