/// The one list of algorithms. The command, the benchmarks, the tests and the stress all iterate it; to add an algorithm is to add a line.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <torus/algorithm.hpp>

namespace torus {

/// All algorithms, by collective, baselines first.
std::span<const Algorithm* const> catalogue() noexcept;

/// The algorithm of that name and collective; none if there is none.
const Algorithm* find_algorithm(Collective collective, std::string_view name) noexcept;

}  // namespace torus
