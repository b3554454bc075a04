/// Records: what was once seen, in a file that is read beside the code, and compared with what is seen now. TORUS_RECORD=1 writes it anew.
#pragma once

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

#include "tests/support/catch.hpp"

namespace torus::support {

inline bool records() { return std::getenv("TORUS_RECORD") != nullptr; }

/// A file of lines "what: its value", sorted. `whole`: the lines that are seen now are all; else the record may have more.
inline void compare_with_record(const std::string& file, const std::map<std::string, std::string>& seen, bool whole) {
  if (records() && whole) {
    std::ofstream out(file);
    for (const auto& [what, value] : seen) out << what << ": " << value << '\n';
    return;
  }
  std::map<std::string, std::string> recorded;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const std::size_t at = line.find(": ");
    REQUIRE(at != std::string::npos);
    recorded[line.substr(0, at)] = line.substr(at + 2);
  }
  unsigned differences = 0;
  std::string text;
  const auto differs = [&](const std::string& what, const std::string& was, const std::string& is) {
    constexpr unsigned most = 20;
    if (++differences <= most) text += what + "\n  was: " + was + "\n  is:  " + is + "\n";
  };
  for (const auto& [what, value] : seen) {
    const auto was = recorded.find(what);
    if (was == recorded.end()) differs(what, "(not recorded)", value);
    if (was != recorded.end() && was->second != value) differs(what, was->second, value);
  }
  for (const auto& [what, value] : recorded) {
    if (whole && !seen.contains(what)) differs(what, value, "(gone)");
  }
  if (differences > 0)
    FAIL_CHECK(text << differences << " of " << seen.size() << " lines differ from " << file
                    << ". Where that is meant: TORUS_RECORD=1 and this test again, and read the difference.");
}

}  // namespace torus::support
