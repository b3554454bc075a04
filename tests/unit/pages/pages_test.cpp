// The pages of the source tree read like a table of contents: the page of a folder names its headers, and links lead somewhere.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

namespace fs = std::filesystem;

namespace {

/// README.md of the folder, or of the nearest folder above it that has one. Each top folder has one.
fs::path page_of(fs::path folder) {
  while (!fs::exists(folder / "README.md")) folder = folder.parent_path();
  return folder / "README.md";
}

std::vector<fs::path> pages() {
  std::vector<fs::path> pages;
  for (const char* page : {"README.md", "CHANGELOG.md", "CONTRIBUTING.md"}) pages.push_back(fs::path(TORUS_SOURCE_DIR) / page);
  for (const char* top : {"runtime", "algorithms", "tools", "bench", "tests"}) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(fs::path(TORUS_SOURCE_DIR) / top)) {
      if (entry.path().extension() == ".md") pages.push_back(entry.path());
    }
  }
  return pages;
}

/// What `](..)` links to outside code blocks, without addresses on the web.
std::vector<std::string> links_of(const std::string& text) {
  std::vector<std::string> links;
  std::istringstream lines(text);
  bool code = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) code = !code;
    for (std::size_t at = line.find("]("); !code && at != std::string::npos; at = line.find("](", at + 1)) {
      const std::string link = line.substr(at + 2, line.find(')', at) - at - 2);
      if (!link.empty() && link.find("://") == std::string::npos) links.push_back(link);
    }
  }
  return links;
}

/// What a link may name behind `#`: headings in small letters and digits, with a hyphen for a space.
std::set<std::string> parts_of(const std::string& text) {
  std::set<std::string> parts;
  std::istringstream lines(text);
  bool code = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) code = !code;
    if (code || !line.starts_with("#")) continue;
    std::string part;
    for (const char c : line.substr(line.find_first_not_of("# "))) {
      if (c == ' ' || c == '-') part += '-';
      if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_')
        part += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    parts.insert(part);
  }
  return parts;
}

}  // namespace

TEST_CASE("the nearest page above each header names it", "[unit]") {
  std::size_t headers = 0;
  for (const char* top : {"runtime", "algorithms", "tools", "bench"}) {
    REQUIRE(fs::exists(fs::path(TORUS_SOURCE_DIR) / top / "README.md"));
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(fs::path(TORUS_SOURCE_DIR) / top)) {
      if (entry.path().extension() != ".hpp") continue;
      ++headers;
      const fs::path page = page_of(entry.path().parent_path());
      const std::string text = torus::support::text_of_file(page.string());
      const std::string name = entry.path().stem().string();
      CAPTURE(entry.path().string(), page.string());
      CHECK((text.find("`" + name + "`") != std::string::npos || text.find("`" + name + ".hpp`") != std::string::npos));
    }
  }
  CHECK(headers > 100);
}

TEST_CASE("every link of a page leads to a file, a folder or a heading", "[unit]") {
  std::size_t links = 0;
  for (const fs::path& page : pages()) {
    for (const std::string& link : links_of(torus::support::text_of_file(page.string()))) {
      CAPTURE(page.string(), link);
      const std::size_t at = std::min(link.find('#'), link.size());
      const fs::path target = at == 0 ? page : page.parent_path() / link.substr(0, at);
      CHECK(fs::exists(target));
      if (at < link.size()) CHECK(parts_of(torus::support::text_of_file(target.string())).contains(link.substr(at + 1)));
      ++links;
    }
  }
  CHECK(links > 20);
}

TEST_CASE("every page is at most three clicks from the first", "[unit]") {
  std::set<fs::path> reached{fs::path(TORUS_SOURCE_DIR) / "README.md"};
  for (int click = 0; click < 3; ++click) {
    for (const fs::path& page : std::set<fs::path>(reached)) {
      if (page.extension() != ".md") continue;
      for (const std::string& link : links_of(torus::support::text_of_file(page.string()))) {
        const fs::path target = (page.parent_path() / link.substr(0, link.find('#'))).lexically_normal();
        reached.insert(fs::is_directory(target) ? target / "README.md" : target);
      }
    }
  }
  for (const fs::path& page : pages()) {
    CAPTURE(page.string());
    CHECK(reached.contains(page));
  }
}
