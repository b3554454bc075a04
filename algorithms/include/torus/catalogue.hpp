/// The one list of algorithms. The command, the benchmarks, the tests and the stress all iterate it; to add an algorithm is to add a line.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <torus/algorithm.hpp>

namespace torus {

/// All algorithms, by collective, baselines first.
std::span<const Algorithm* const> catalogue() noexcept;

/// Puts algorithms of a program's own behind those of this project: whatever iterates the catalogue has them from then on. Only at the
/// start of a program, before it has threads and before anybody has called catalogue(). The algorithms must outlive the program's main().
/// Throws InputError where a name is not one or is taken, or the plan is missing; then the catalogue is as before.
void extend_catalogue(std::span<const Algorithm* const> own);

/// Whether an algorithm is a program's own: none of this project. O(algorithms).
bool is_own(const Algorithm& algorithm) noexcept;

/// The algorithm of that name and collective; none if there is none.
const Algorithm* find_algorithm(Collective collective, std::string_view name) noexcept;

/// What an algorithm of an earlier release is called now, with the options that say the same: "tree-of-broadcast --along mst". Empty if no
/// algorithm has had that name.
std::string renamed(Collective collective, std::string_view name);

}  // namespace torus
