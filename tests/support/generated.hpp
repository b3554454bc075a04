/// Parts of pages that tests generate.
#pragma once

#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

namespace torus::support {

/// Checks that a page has a text between two of its lines; with TORUS_UPDATE_PAGES, as tools/update_pages sets it, writes it there.
inline void check_generated(const std::string& path, const std::string& begin, const std::string& end, const std::string& text) {
  std::string page = text_of_file(path);
  const std::size_t from = page.find(begin), to = page.find(end);
  CAPTURE(path, begin, end);
  REQUIRE(from != std::string::npos);
  REQUIRE(to != std::string::npos);
  const std::size_t first = from + begin.size();
  if (std::getenv("TORUS_UPDATE_PAGES") != nullptr) {
    page.replace(first, to - first, text);
    std::ofstream(path) << page;
  } else {
    CHECK(page.substr(first, to - first) == text);
  }
}

}  // namespace torus::support
