#include "algorithms/optimum/formula.hpp"

namespace torus::optimum {

void Formula::at_most(std::span<const Literal> literals, int most) {
  const std::size_t n = literals.size();
  const auto limit = static_cast<std::size_t>(most);
  if (n <= limit) return;
  if (most == 1 && n <= 6) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = i + 1; j < n; ++j) add({-literals[i], -literals[j]});
    }
    return;
  }
  // A counter: reached[j] after literal i says that j + 1 of the literals up to i are true (Sinz 2005).
  std::vector<Literal> before, reached(limit);
  for (std::size_t i = 0; i < n; ++i) {
    for (Literal& each : reached) each = variable();
    add({-literals[i], reached[0]});
    for (std::size_t j = 0; j < before.size(); ++j) {
      add({-before[j], reached[j]});
      if (j > 0) add({-literals[i], -before[j - 1], reached[j]});
    }
    if (!before.empty()) add({-literals[i], -before[limit - 1]});
    before = reached;
  }
}

std::string Formula::dimacs() const {
  std::string text = "p cnf " + std::to_string(variables_) + " " + std::to_string(clauses_.size()) + "\n";
  for (const Clause& clause : clauses_) {
    for (const Literal literal : clause) text += std::to_string(literal) + " ";
    text += "0\n";
  }
  return text;
}

}  // namespace torus::optimum
