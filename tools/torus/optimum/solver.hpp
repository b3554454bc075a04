/// A solver of formulas: CaDiCaL, where the program is built with it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/optimum/formula.hpp"

namespace torus::command {

/// Whether there is one.
bool has_solver() noexcept;

/// How long it may try. What it does depends on the formula alone: the same conflicts give the same answer.
struct SolverLimit {
  std::optional<double> seconds = {};
  std::optional<int> conflicts = {};
};

struct Solved {
  std::optional<bool> satisfiable = {};  ///< none: not decided
  std::vector<bool> values = {};         ///< that satisfy it: by variable, from 1
  std::string proof = {};                ///< that nothing does, as text in DRAT, if it was asked for
};

/// Throws InputError without a solver, RunError after Ctrl-C.
Solved solve(const optimum::Formula& formula, const SolverLimit& limit, bool with_proof = false);

}  // namespace torus::command
