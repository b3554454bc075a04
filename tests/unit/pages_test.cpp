// The page of a folder of sources names each of its headers: it reads like a table of contents, and misses none.
#include <filesystem>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

namespace fs = std::filesystem;

TEST_CASE("the page of each folder of sources names all of its headers", "[unit]") {
  std::size_t pages = 0;
  for (const char* top : {"runtime", "algorithms", "tools", "bench"}) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(fs::path(TORUS_SOURCE_DIR) / top)) {
      if (entry.path().extension() != ".hpp") continue;
      const fs::path page = entry.path().parent_path() / "README.md";
      CAPTURE(entry.path().string());
      REQUIRE(fs::exists(page));
      ++pages;
      const std::string text = torus::support::text_of_file(page.string());
      const std::string name = entry.path().stem().string();
      CHECK((text.find("`" + name + "`") != std::string::npos || text.find("`" + name + ".hpp`") != std::string::npos));
    }
  }
  CHECK(pages > 100);
}
