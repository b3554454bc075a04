#include "tools/torus/cli/table.hpp"

#include <algorithm>
#include <cstdlib>
#include <random>
#include <sstream>

#include "tests/support/catch.hpp"
#include "tests/support/shapes.hpp"

using namespace torus::command;

namespace {

/// COLUMNS while it lives.
class Columns {
 public:
  explicit Columns(const char* columns) { ::setenv("COLUMNS", columns, 1); }
  ~Columns() { ::unsetenv("COLUMNS"); }
  Columns(const Columns&) = delete;
  Columns& operator=(const Columns&) = delete;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::size_t longest(const std::string& text) {
  std::size_t length = 0;
  for (const std::string& line : lines_of(text)) length = std::max(length, line.size());
  return length;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

const Table small{{"name", "steps", "bytes"}, {"flood", "8", "64"}, {"swath", "10", "16,384"}};

}  // namespace

TEST_CASE("a table that fits a line has all its columns", "[unit]") {
  const Columns columns("80");
  CHECK(fits(small));
  CHECK(aligned(small, {.left_out = {1}}) == "name   steps  bytes\nflood  8      64\nswath  10     16,384\n");
}

TEST_CASE("a table that is too wide loses the columns that may go, and names them", "[unit]") {
  const Columns columns("17");
  CHECK(!fits(small));
  CHECK(aligned(small, {.left_out = {1}}) == "name   bytes\nflood  64\nswath  16,384\n--wide adds:\n  steps\n");
  const Table shapes{{"a", "sources", "channels"}, {"flood", "1", "4"}};
  const Columns fewer("13");
  CHECK(aligned(shapes, {.left_out = {2, 1}}) == "a\nflood\n--wide adds:\n  channels,\n  sources\n");
}

TEST_CASE("a table that is still too wide goes on below, each part with the first column", "[unit]") {
  const Columns columns("14");
  CHECK(aligned(small) == "name   steps\nflood  8\nswath  10\n\nname   bytes\nflood  64\nswath  16,384\n");
}

TEST_CASE("words of a last column take several lines", "[unit]") {
  const Columns columns("40");
  CHECK(aligned(Table{{"a", "because"}, {"flood", "it needs as many ports as a node has channels"}}) ==
        "a      because\nflood  it needs as many ports as a node\n       has channels\n");
}

TEST_CASE("words go on below what stands after the first gap", "[unit]") {
  const Columns columns("30");
  CHECK(wrapped("steps   10 with traffic; the lower bound is 4\n") == "steps   10 with traffic; the\n        lower bound is 4\n");
  CHECK(wrapped("    parallel|single|whole|rotated|auto\n") == "    parallel|single|whole|\n      rotated|auto\n");
  CHECK(wrapped("no gap in this line of many words\n") == "no gap in this line of many\n  words\n");
  CHECK(wrapped("  torus run broadcast --on 16x16 --bytes 64KiB\n") == "  torus run broadcast --on 16x16 --bytes 64KiB\n");
}

TEST_CASE("a width that is no number, or none, changes nothing", "[unit]") {
  const std::string line(300, 'x');
  for (const char* columns : {"", "0", "-3", "12x", "99999999999999999999"}) {
    const Columns set(columns);
    CHECK(wrapped(line + " " + line + "\n") == line + " " + line + "\n");
  }
}

TEST_CASE("random tables keep every cell, and no line is longer than it must be", "[unit]") {
  CAPTURE(torus::support::seed());
  std::mt19937 random{static_cast<unsigned>(torus::support::seed())};
  for (int trial = 0; trial < 300; ++trial) {
    Table table(2 + random() % 4, std::vector<std::string>(1 + random() % 9));
    std::vector<std::string> words;
    for (auto& line : table) {
      for (std::string& cell : line) {
        cell = std::string(1 + random() % 9, static_cast<char>('a' + random() % 26));
        words.push_back(cell);
      }
    }
    const Columns columns("24");
    const std::string text = aligned(table);
    INFO(text);
    CHECK(longest(text) <= 24);  // two cells of nine and a gap always fit
    for (const std::string& word : words) CHECK(text.find(word) != std::string::npos);
    CHECK(words_of(text).size() >= words.size());
  }
}
