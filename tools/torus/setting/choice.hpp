/// Which algorithm a setting takes where none is named.
#pragma once

#include <span>
#include <string_view>

#include "tools/torus/setting/setting.hpp"

namespace torus::command {

/// Gives a setting the algorithm of the least predicted model time, or of the least time to run, among those that apply, can be planned
/// and fit into the memory; a search that cannot win is left out, from 64 nodes on one that can gain 3 % at most. Classes of groups choose
/// each for itself, or one algorithm for all where that takes less by together_s(). Where nothing is predicted for sizes that differ,
/// blocks of the mean size count; one that predicts nothing is chosen only where no other is left. Throws InputError.
void choose_algorithms(Setting& setting, const RunSpec& spec, std::span<const Algorithm* const> algorithms);

/// Throws InputError where it is asked by what an algorithm is chosen, beside an option that leaves nothing to choose.
void refuse_choice(const RunSpec& spec, std::string_view option, std::string_view value);

}  // namespace torus::command
