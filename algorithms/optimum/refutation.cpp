/// The check of a refutation, forwards, with two watched literals a clause.
#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "algorithms/optimum/formula.hpp"

namespace torus::optimum {
namespace {

class Checker {
 public:
  explicit Checker(int variables) : values_(static_cast<std::size_t>(variables) + 1, 0), watches_(2 * values_.size()) {}

  bool knows(Literal literal) const noexcept { return literal != 0 && static_cast<std::size_t>(std::abs(literal)) < values_.size(); }
  bool refuted() const noexcept { return refuted_; }

  /// Adds a clause that is given or has been shown.
  void add(Clause clause) {
    std::sort(clause.begin(), clause.end());
    clause.erase(std::unique(clause.begin(), clause.end()), clause.end());
    // What is not false at the end of the trail is watched; of a clause with one such literal that is implied.
    Clause ordered = clause;
    std::stable_partition(ordered.begin(), ordered.end(), [&](Literal l) { return value(l) >= 0; });
    const std::size_t open =
        static_cast<std::size_t>(std::count_if(ordered.begin(), ordered.end(), [&](Literal l) { return value(l) >= 0; }));
    const std::size_t index = clauses_.size();
    if (ordered.size() >= 2) {
      watch(ordered[0], index);
      watch(ordered[1], index);
    }
    index_of_[std::move(clause)].push_back(index);
    clauses_.push_back(std::move(ordered));
    if (open == 0) refuted_ = true;
    if (open == 1 && value(clauses_[index][0]) == 0) {
      assign(clauses_[index][0]);
      if (!propagate()) refuted_ = true;
    }
  }

  /// What is implied by a clause that goes stays assigned: it follows from the formula nevertheless.
  bool remove(Clause clause) {
    std::sort(clause.begin(), clause.end());
    clause.erase(std::unique(clause.begin(), clause.end()), clause.end());
    const auto found = index_of_.find(clause);
    if (found == index_of_.end()) return false;
    clauses_[found->second.back()].clear();  // its watches go when they are looked at
    found->second.pop_back();
    if (found->second.empty()) index_of_.erase(found);
    return true;
  }

  /// Whether assuming that all literals of the clause are false ends in a conflict by unit propagation.
  bool follows(const Clause& clause) {
    const std::size_t before = trail_.size();
    bool conflict = refuted_;
    for (const Literal literal : clause) {
      if (conflict) break;
      if (value(literal) > 0) conflict = true;
      if (value(literal) == 0) assign(-literal);
    }
    conflict = conflict || !propagate();
    for (; trail_.size() > before; trail_.pop_back()) values_[static_cast<std::size_t>(std::abs(trail_.back()))] = 0;
    next_ = before;
    return conflict;
  }

 private:
  int value(Literal literal) const noexcept {
    const int of = values_[static_cast<std::size_t>(std::abs(literal))];
    return literal > 0 ? of : -of;
  }
  void assign(Literal literal) {
    values_[static_cast<std::size_t>(std::abs(literal))] = literal > 0 ? 1 : -1;
    trail_.push_back(literal);
  }
  std::vector<std::size_t>& watchers(Literal literal) {
    return watches_[2 * static_cast<std::size_t>(std::abs(literal)) + (literal > 0 ? 1 : 0)];
  }
  void watch(Literal literal, std::size_t clause) { watchers(literal).push_back(clause); }

  /// False: a conflict.
  bool propagate() {
    bool conflict = false;
    for (; !conflict && next_ < trail_.size(); ++next_) {
      const Literal gone = -trail_[next_];
      std::vector<std::size_t>& watching = watchers(gone);
      std::size_t kept = 0;
      for (std::size_t i = 0; i < watching.size(); ++i) {
        const std::size_t index = watching[i];
        Clause& clause = clauses_[index];
        if (clause.size() < 2) continue;  // removed
        if (clause[0] == gone) std::swap(clause[0], clause[1]);
        if (clause[1] != gone) continue;
        const auto other =
            value(clause[0]) > 0 ? clause.end() : std::find_if(clause.begin() + 2, clause.end(), [&](Literal l) { return value(l) >= 0; });
        if (value(clause[0]) <= 0 && other != clause.end()) {
          std::swap(clause[1], *other);
          watch(clause[1], index);
          continue;
        }
        watching[kept++] = index;
        if (value(clause[0]) > 0) continue;
        if (value(clause[0]) == 0) {
          assign(clause[0]);
          continue;
        }
        conflict = true;
        while (++i < watching.size()) watching[kept++] = watching[i];
      }
      watching.resize(kept);
    }
    return !conflict;
  }

  std::vector<int> values_;                        // by variable: 1, -1, or 0 where it is open
  std::vector<std::vector<std::size_t>> watches_;  // by literal
  std::vector<Clause> clauses_;                    // the first two literals are watched; empty: removed
  std::map<Clause, std::vector<std::size_t>> index_of_;
  std::vector<Literal> trail_;
  std::size_t next_ = 0;
  bool refuted_ = false;
};

/// The literals of a line, up to its 0. None: it is not written so.
std::optional<Clause> clause_of(std::string_view line, const Checker& checker) {
  Clause clause;
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    Literal literal = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), literal);
    if (error != std::errc()) return std::nullopt;
    if (literal == 0) return clause;
    if (!checker.knows(literal)) return std::nullopt;
    clause.push_back(literal);
    line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  }
}

}  // namespace

std::string refutation_error(const Formula& formula, std::string_view proof) {
  Checker checker(formula.variables());
  for (const Clause& clause : formula.clauses()) checker.add(clause);
  for (std::size_t number = 1; !checker.refuted() && !proof.empty(); ++number) {
    std::string_view line = proof.substr(0, proof.find('\n'));
    proof.remove_prefix(std::min(line.size() + 1, proof.size()));
    if (line.empty() || line.starts_with('c')) continue;
    const bool removes = line.starts_with("d ");
    if (removes) line.remove_prefix(2);
    const auto clause = clause_of(line, checker);
    const auto wrong = [&](const char* why) { return "line " + std::to_string(number) + ": " + why; };
    if (!clause) return wrong("it is no clause of the formula's variables that ends in 0");
    if (removes) {
      if (!checker.remove(*clause)) return wrong("it removes a clause that is not there");
      continue;
    }
    if (!checker.follows(*clause)) return wrong("its clause does not follow by unit propagation");
    checker.add(*clause);
  }
  return checker.refuted() ? "" : "it ends before the empty clause follows";
}

}  // namespace torus::optimum
