/// The command from outside, as a user or a script meets it. For tests that TORUS_PROGRAM is defined for.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
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

/// The same, for a command that must do.
inline Ended good(const std::string& line) {
  Ended ended = command(line);
  CAPTURE(line, ended.err);
  REQUIRE(ended.status == 0);
  return ended;
}
/// A command that is refused in one line with these words, and leaves no such file.
inline void check_refused_without(const std::string& file, const std::string& line, const std::string& words) {
  const Ended ended = command(line);
  CAPTURE(line, ended.err);
  CHECK(ended.status == 2);
  CHECK(ended.err.find(words) != std::string::npos);
  CHECK(std::count(ended.err.begin(), ended.err.end(), '\n') == 1);
  CHECK_FALSE(std::filesystem::exists(file));
}

/// How often a word stands in a text.
inline std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}
inline std::size_t lines(const std::string& text) { return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')); }

}  // namespace torus::support
