/// The papers that the catalogue goes back to, as the page algorithms/references.md has them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <torus/algorithm.hpp>

namespace torus::command {

/// A paper, cited in full.
struct Reference {
  std::string cited_as, authors, title, where, year;
  std::vector<std::string> algorithms;  ///< names of those that cite it

  /// "J.-L. Park, H.-A. Choi: Circuit-Switched .. . IEEE .. 7(2), 184-190, 1996".
  std::string text() const;
};

const std::vector<Reference>& references();
/// The papers whose authors, title or year have the word in them, in small letters or capital ones. Empty: none.
std::vector<const Reference*> references_with(std::string_view word);
/// The papers that an algorithm's source cites. Empty for folklore and for what is this project's or the user's own.
std::vector<const Reference*> references_of(const Algorithm& algorithm);

}  // namespace torus::command
