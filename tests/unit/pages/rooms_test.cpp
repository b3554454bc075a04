// Each room of the house has a budget of lines: tests/rooms. Code that brings a concept takes its forerunner away.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "tests/support/catch.hpp"

namespace {

namespace fs = std::filesystem;

/// "algorithms/broadcast" of its files, "algorithms" of those that stand in no folder there.
std::string room_of(const fs::path& file) {
  const bool command = *file.begin() == "tools" && *std::next(file.begin()) == "torus";
  const auto depth = std::distance(file.begin(), file.end());
  fs::path room;
  for (auto part = file.begin();
       part != file.end() && std::distance(file.begin(), part) < std::min<std::ptrdiff_t>(depth - 1, command ? 3 : 2); ++part)
    room /= *part;
  return room.string();
}

std::size_t lines_of(const fs::path& file) {
  std::ifstream in(file);
  std::size_t lines = 0;
  for (std::string line; std::getline(in, line);) ++lines;
  return lines;
}

}  // namespace

TEST_CASE("no room has more lines of C++ than its budget, and all of them have one", "[unit]") {
  const fs::path root = TORUS_SOURCE_DIR;
  std::map<std::string, std::size_t> lines;
  for (const char* top : {"runtime", "algorithms", "tools", "bench", "tests"}) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / top)) {
      if (const auto kind = entry.path().extension(); kind == ".cpp" || kind == ".hpp")
        lines[room_of(fs::relative(entry.path(), root))] += lines_of(entry.path());
    }
  }
  std::map<std::string, std::size_t> budgets;
  std::ifstream file(root / "tests" / "rooms");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string room;
    std::size_t budget = 0;
    if (line.empty() || line.front() == '#' || !(words >> room >> budget)) continue;
    budgets[room] = budget;
  }
  for (const auto& [room, count] : lines) {
    CAPTURE(room, count, "in tests/rooms; a commit that raises a budget says what it buys");
    REQUIRE(budgets.count(room) == 1);
    CHECK(static_cast<double>(count) <= 1.02 * static_cast<double>(budgets[room]));
  }
  for (const auto& [room, budget] : budgets) {
    CAPTURE(room);
    CHECK(lines.count(room) == 1);
  }
}
