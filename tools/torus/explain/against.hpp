/// How an algorithm stands against the others of its collective on a machine, from which size to which.
#pragma once

#include <string>

#include "tools/torus/cli/json.hpp"
#include "tools/torus/study/comparison.hpp"

namespace torus::command {

/// A table of its place by size, and a line for those against which it is, say, slower and then faster.
std::string against_text(const Comparison& comparison, const Algorithm& algorithm);
/// The same: `standings` and `against`.
Json against_json(const Comparison& comparison, const Algorithm& algorithm);

}  // namespace torus::command
