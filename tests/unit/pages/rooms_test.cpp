// Each room of the house has a budget of lines, and the pages have one of words: tests/rooms. Code that brings a concept takes its
// forerunner away, as does a sentence.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
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

/// Words outside code blocks and tables.
std::size_t words_of_prose(const fs::path& page) {
  std::ifstream in(page);
  std::size_t words = 0;
  bool code = false;
  for (std::string line; std::getline(in, line);) {
    const bool fence = line.starts_with("```");
    if (fence) code = !code;
    if (fence || code || line.starts_with("|")) continue;
    std::istringstream text(line);
    words += static_cast<std::size_t>(std::distance(std::istream_iterator<std::string>(text), {}));
  }
  return words;
}

/// By room, "pages" and "README.md".
std::map<std::string, std::size_t> budgets() {
  std::map<std::string, std::size_t> budgets;
  std::ifstream file(fs::path(TORUS_SOURCE_DIR) / "tests" / "rooms");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string room;
    std::size_t budget = 0;
    if (line.empty() || line.front() == '#' || !(words >> room >> budget)) continue;
    budgets[room] = budget;
  }
  return budgets;
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
  auto rooms = budgets();
  for (const char* of_words : {"pages", "README.md"}) REQUIRE(rooms.erase(of_words) == 1);
  for (const auto& [room, count] : lines) {
    CAPTURE(room, count, "in tests/rooms; a commit that raises a budget says what it buys");
    REQUIRE(rooms.count(room) == 1);
    CHECK(static_cast<double>(count) <= 1.02 * static_cast<double>(rooms[room]));
  }
  for (const auto& [room, budget] : rooms) {
    CAPTURE(room);
    CHECK(lines.count(room) == 1);
  }
}

TEST_CASE("the pages together, and the first alone, have no more words than their budgets", "[unit]") {
  const fs::path root = TORUS_SOURCE_DIR;
  std::size_t words = words_of_prose(root / "README.md") + words_of_prose(root / "CONTRIBUTING.md");
  for (const char* top : {"runtime", "algorithms", "tools", "bench", "tests"}) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / top)) {
      if (entry.path().extension() == ".md") words += words_of_prose(entry.path());
    }
  }
  CAPTURE("in tests/rooms; a page that says more takes something away");
  CHECK(words > 10'000);
  CHECK(words <= budgets().at("pages"));
  std::ifstream first(root / "README.md");
  const auto all = std::distance(std::istream_iterator<std::string>(first), {});
  CHECK(static_cast<std::size_t>(all) <= budgets().at("README.md"));
}
