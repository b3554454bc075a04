#include "tools/torus/references.hpp"

#include <fmt/format.h>
#include <sstream>

#include "tools/torus/reference_page.hpp"

namespace torus::command {

std::vector<std::string> references_of(const Algorithm& algorithm) {
  std::vector<std::string> references;
  std::istringstream lines(reference_page);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> cells;  // of a row: cited as, authors, title, where, year, algorithms
    for (std::size_t from = 2, to = 0; (to = line.find(" |", from)) != std::string::npos; from = to + 3)
      cells.push_back(line.substr(from, to - from));
    if (cells.size() < 5 || algorithm.source.find(cells[0]) == std::string_view::npos) continue;
    references.push_back(fmt::format("{}: {}. {}, {}", cells[1], cells[2], cells[3], cells[4]));
  }
  return references;
}

}  // namespace torus::command
