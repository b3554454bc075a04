// tests/mutants/list is of this code: each text that it would mistake stands in its file once. (tests/mutants/run takes minutes and is run
// by hand.)
#include <sstream>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

namespace {

std::size_t lines_with(const std::string& words, const std::string& text) {
  std::istringstream in(text);
  std::size_t count = 0;
  for (std::string line; std::getline(in, line);) count += line.find(words) != std::string::npos ? 1U : 0U;
  return count;
}

}  // namespace

TEST_CASE("each text of the list of mutants stands once where it says", "[unit]") {
  const std::string root = std::string(TORUS_SOURCE_DIR) + "/";
  std::istringstream list(torus::support::text_of_file(root + "tests/mutants/list"));
  const std::string in = "  in         ", was = "  was        ";
  std::string file;
  std::size_t mutants = 0;
  for (std::string line; std::getline(list, line);) {
    if (line.starts_with(in)) file = line.substr(in.size());
    if (!line.starts_with(was)) continue;
    const std::string words = line.substr(was.size());
    CAPTURE(file, words);
    CHECK(lines_with(words, torus::support::text_of_file(root + file)) == 1);
    ++mutants;
  }
  CHECK(mutants > 20);
}
