/// Tables of CSV, as the command writes them.
#pragma once

#include <sstream>
#include <string>
#include <vector>

namespace torus::support {

/// The lines of a table, each as its cells; the first are the names. A comma between quotes is part of its cell.
inline std::vector<std::vector<std::string>> table_of_csv(const std::string& text) {
  std::vector<std::vector<std::string>> table;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string>& cells = table.emplace_back(1);
    bool quoted = false;
    for (const char c : line) {
      if (c == '"')
        quoted = !quoted;
      else if (c == ',' && !quoted)
        cells.emplace_back();
      else
        cells.back() += c;
    }
  }
  return table;
}

}  // namespace torus::support
