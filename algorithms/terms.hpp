/// What the symbols of formulas stand for, in words.
#pragma once

#include <string_view>
#include <vector>

#include <torus/algorithm.hpp>

namespace torus {

/// The symbols of a formula that an algorithm's own `terms`, or else the usage of all, name: each once, in the order in which they come.
/// A symbol without a term has an empty meaning, and lives as long as the formula. Symbols are single letters, letters with a number or an
/// index, and functions: N, n_d, L3, ceil. Words are no symbols, unless the algorithm names them: "tune".
std::vector<Term> terms_of(const Algorithm& algorithm, std::string_view formula);
/// Those of the algorithm's steps in general, and then of the plan's formula. A tree of a broadcast has the broadcast's formula, with the
/// broadcast's own terms. They live as long as the plan.
std::vector<Term> terms_of(const Algorithm& algorithm, const Plan& plan);

}  // namespace torus
