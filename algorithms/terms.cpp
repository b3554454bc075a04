#include "algorithms/terms.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include <torus/catalogue.hpp>

namespace torus {
namespace {

/// As nearly all formulas mean them.
constexpr std::array usual{
    Term{"N", "nodes of the machine"},
    Term{"n", "nodes of a line or ring: the extent of a dimension"},
    Term{"n_d", "extent of dimension d"},
    Term{"n_i", "extent of dimension i"},
    Term{"n_t", "extent of dimension t"},
    Term{"n_max", "longest extent"},
    Term{"k", "dimensions of more than one node"},
    Term{"K", "segments that the message is cut into"},
    Term{"D", "diameter: the hops between the two nodes that are farthest apart"},
    Term{"p", "ports that a node uses at once"},
    Term{"T_i", "steps of one exchange along dimension i"},
    Term{"T_1", "steps of one exchange along a dimension"},
    Term{"L2", "L2(x): log of x to the base 2, rounded up"},
    Term{"L3", "L3(x): log of x to the base 3, rounded up"},
    Term{"L5", "L5(x): log of x to the base 5, rounded up"},
    Term{"log", "log_b(x): how often x can be divided by b until 1 is left"},
    Term{"ceil", "ceil(x): x rounded up"},
    Term{"floor", "floor(x): x rounded down"},
    Term{"bl", "bl(x): digits of x in binary"},
    Term{"mod", "x mod y: what is left of x divided by y"},
};

bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// A word or a symbol of a formula: "steps", "n_d", "c_" of c_{t+1}, "log" of log2 and log_{2k+1}.
struct Token {
  std::string text;
  std::size_t from = 0;  ///< where it begins
  bool symbol = false;   ///< false: a word
};

/// The letters 'a' and 'x' are words ("a tree", "n x n"), and 2-D, 2d and the s of "a tree's" are no symbols.
bool looks_like_symbol(std::string_view text, std::string_view before) {
  if (text.find('_') != std::string_view::npos) return true;
  const bool numbered = text.size() > 1 && std::all_of(text.begin() + 1, text.end(), is_digit);
  if (numbered || std::any_of(usual.begin(), usual.end(), [&](const Term& term) { return term.symbol == text; }) || text.size() == 1) {
    const bool dimensional = (text == "D" || text == "d") && !before.empty() && (before.back() == '-' || is_digit(before.back()));
    const bool genitive = !before.empty() && before.back() == '\'';
    return text != "a" && text != "x" && !dimensional && !genitive;
  }
  return false;
}

std::vector<Token> tokens_of(std::string_view formula) {
  std::vector<Token> tokens;
  for (std::size_t at = 0; at < formula.size();) {
    const std::size_t from = at;
    if (!is_letter(formula[at])) {
      ++at;
      continue;
    }
    while (at < formula.size() && (is_letter(formula[at]) || is_digit(formula[at]))) ++at;
    std::string text(formula.substr(from, at - from));
    if (text.starts_with("log")) text.erase(std::find_if(text.begin(), text.end(), is_digit), text.end());
    if (at < formula.size() && formula[at] == '_') {
      const std::size_t index = ++at;
      while (at < formula.size() && (is_letter(formula[at]) || is_digit(formula[at]))) ++at;
      if (text != "log") text += "_" + std::string(formula.substr(index, at - index));
    }
    const bool symbol = looks_like_symbol(text, formula.substr(0, from));
    tokens.push_back({std::move(text), from, symbol});
  }
  return tokens;
}

const Term* find_term(std::span<const Term> terms, std::string_view symbol) {
  const auto same = std::find_if(terms.begin(), terms.end(), [&](const Term& term) { return term.symbol == symbol; });
  return same != terms.end() ? &*same : nullptr;
}

/// That of the same letter with another index: c_t for c_0.
const Term* find_indexed(std::span<const Term> terms, std::string_view symbol) {
  const std::size_t letter = symbol.find('_');
  if (letter == std::string_view::npos) return nullptr;
  const auto same = std::find_if(terms.begin(), terms.end(),
                                 [&](const Term& term) { return term.symbol.substr(0, letter + 1) == symbol.substr(0, letter + 1); });
  return same != terms.end() ? &*same : nullptr;
}

/// What a token stands for: the algorithm's own term goes first.
const Term* meant_by(const Algorithm& algorithm, const Token& token) {
  if (const Term* own = find_term(algorithm.terms, token.text)) return own;
  if (!token.symbol) return nullptr;
  if (const Term* of_all = find_term(usual, token.text)) return of_all;
  if (const Term* own = find_indexed(algorithm.terms, token.text)) return own;
  return find_indexed(usual, token.text);
}

}  // namespace

std::vector<Term> terms_of(const Algorithm& algorithm, std::string_view formula) {
  std::vector<Term> terms;
  const auto add = [&](const Term& term) {
    if (std::none_of(terms.begin(), terms.end(), [&](const Term& other) { return other.symbol == term.symbol; })) terms.push_back(term);
  };
  for (const Term& own : algorithm.terms) {
    if (!is_letter(own.symbol.front()) && formula.find(own.symbol.front()) != std::string_view::npos) add(own);  // "[..]"
  }
  for (const Token& token : tokens_of(formula)) {
    if (const Term* meant = meant_by(algorithm, token))
      add(*meant);
    else if (token.symbol)
      add({formula.substr(token.from, token.text.size()), {}});
  }
  return terms;
}

std::vector<Term> terms_of(const Algorithm& algorithm, const Plan& plan) {
  const auto along = std::find_if(plan.notes.begin(), plan.notes.end(), [](const auto& note) { return note.first == "along"; });
  const Algorithm* const broadcast = along != plan.notes.end() ? find_algorithm(Collective::broadcast, along->second) : nullptr;
  std::vector<Term> terms = terms_of(algorithm, algorithm.steps);
  for (const Term& term : terms_of(broadcast != nullptr ? *broadcast : algorithm, plan.formula)) {
    if (find_term(terms, term.symbol) == nullptr) terms.push_back(term);
  }
  return terms;
}

}  // namespace torus
