// SPDX-License-Identifier: MIT
/// The command from outside, as a user or a script meets it. For tests that TORUS_PROGRAM is defined for.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/process.hpp"

namespace torus::support {

/// "run broadcast --on 4x4" in words; a word in single quotes may hold spaces or be empty.
inline std::vector<std::string> words(const std::string& line) {
  std::vector<std::string> out;
  std::string word;
  bool quoted = false;
  bool any = false;
  for (const char c : line + " ") {
    if (c == '\'') {
      quoted = !quoted;
      any = true;
    } else if (c == ' ' && !quoted) {
      if (any) out.push_back(word);
      word.clear();
      any = false;
    } else {
      word += c;
      any = true;
    }
  }
  return out;
}

inline Ended command(const std::string& line) { return run_program(TORUS_PROGRAM, {.arguments = words(line)}); }

inline std::size_t lines(const std::string& text) { return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')); }

}  // namespace torus::support
