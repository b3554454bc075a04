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

/// The same under a limit of the shell's: "-v 1500000" is so many KiB of address space, "-f 1" a block of 512 bytes in a file.
inline Ended command_under(const std::string& ulimit, const std::string& line) {
  Start start{.arguments = {"-c", "ulimit " + ulimit + "; exec \"$0\" \"$@\"", TORUS_PROGRAM}};
  for (const std::string& word : words(line)) start.arguments.push_back(word);
  return run_program("/bin/sh", start);
}

inline std::size_t lines(const std::string& text) { return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')); }

}  // namespace torus::support
