#include "tools/torus/papers/references.hpp"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <sstream>

#include "tools/torus/papers/reference_page.hpp"

namespace torus::command {
namespace {

/// The cells of a row of the page: cited as, authors, title, where, year, algorithms.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  for (std::size_t from = 2, to = 0; (to = line.find(" |", from)) != std::string::npos; from = to + 3)
    cells.push_back(line.substr(from, to - from));
  return cells;
}

/// "`mst`, `swing`" -> mst, swing.
std::vector<std::string> names_in(const std::string& cell) {
  std::vector<std::string> names;
  std::istringstream parts(cell);
  for (std::string between, name; std::getline(parts, between, '`') && std::getline(parts, name, '`');) names.push_back(name);
  return names;
}

std::string in_small_letters(std::string_view text) {
  std::string small(text);
  std::transform(small.begin(), small.end(), small.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return small;
}

}  // namespace

std::string Reference::text() const { return fmt::format("{}: {}. {}, {}", authors, title, where, year); }

const std::vector<Reference>& references() {
  static const std::vector<Reference> all = [] {
    std::vector<Reference> read;
    std::istringstream lines(reference_page);
    for (std::string line; std::getline(lines, line);) {
      const std::vector<std::string> cells = cells_of(line);
      if (cells.size() == 6 && line.starts_with("| ") && cells[0] != "cited as")
        read.push_back({cells[0], cells[1], cells[2], cells[3], cells[4], names_in(cells[5])});
    }
    return read;
  }();
  return all;
}

std::vector<const Reference*> references_with(std::string_view word) {
  std::vector<const Reference*> found;
  for (const Reference& each : references()) {
    const std::string all = in_small_letters(each.cited_as + "\n" + each.authors + "\n" + each.title + "\n" + each.year);
    if (all.find(in_small_letters(word)) != std::string::npos) found.push_back(&each);
  }
  return found;
}

std::vector<const Reference*> references_of(const Algorithm& algorithm) {
  std::vector<const Reference*> found;
  for (const Reference& each : references()) {
    if (algorithm.source.find(each.cited_as) != std::string_view::npos) found.push_back(&each);
  }
  return found;
}

}  // namespace torus::command
