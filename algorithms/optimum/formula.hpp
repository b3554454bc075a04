/// A propositional formula in conjunctive normal form, and the check of a proof that nothing satisfies it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace torus::optimum {

/// A variable, from 1, or with a minus its negation.
using Literal = int;
using Clause = std::vector<Literal>;

class Formula {
 public:
  Literal variable() { return ++variables_; }
  void add(Clause clause) { clauses_.push_back(std::move(clause)); }
  /// At most `most` of these are true, 1 or more. Adds variables where there are many.
  void at_most(std::span<const Literal> literals, int most);

  int variables() const noexcept { return variables_; }
  const std::vector<Clause>& clauses() const noexcept { return clauses_; }
  /// As files of solvers have it: DIMACS.
  std::string dimacs() const;

 private:
  int variables_ = 0;
  std::vector<Clause> clauses_;
};

/// Checks a proof in the text form of DRAT that no assignment satisfies the formula: each clause that it adds must follow from those that
/// are there by unit propagation (RUP), and the empty one must come. Returns what is wrong, naming the line; empty: the proof holds. It
/// shares nothing with the solver.
std::string refutation_error(const Formula& formula, std::string_view proof);

}  // namespace torus::optimum
