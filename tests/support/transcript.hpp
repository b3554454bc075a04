/// Transcripts: commands, and what a user sees of them. A file is
///
///   # Words on what follows.
///   $ torus run broadcast --on 4x4
///   what it prints, on both streams; `...` stands for any characters of a line, and alone in a line for any lines
///   [2]
///
/// with the exit status last, where it is not 0. All commands of a file run in one folder, in order, as a shell reads them. JSON is broken
/// before each key. TORUS_RECORD=1 writes anew what does not match.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/command_line.hpp"

namespace torus::support {

namespace exchanges {

/// Whether a line is as a pattern says, in which `...` stands for any characters.
inline bool matches(std::string_view line, std::string_view pattern) {
  const std::size_t gap = pattern.find("...");
  if (gap == std::string_view::npos) return line == pattern;
  if (!line.starts_with(pattern.substr(0, gap))) return false;
  line.remove_prefix(gap);
  pattern.remove_prefix(gap + 3);
  const std::size_t next = pattern.find("...");
  if (next == std::string_view::npos) return line.ends_with(pattern);
  const std::size_t at = line.find(pattern.substr(0, next));
  return at != std::string_view::npos && matches(line.substr(at), pattern);
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

/// The first line that is not as expected; empty if all are. After a gap goes the first line that matches.
inline std::string difference(const std::vector<std::string>& lines, const std::vector<std::string>& expected) {
  std::size_t at = 0;
  bool gap = false;
  for (const std::string& line : expected) {
    if (line == "...") {
      gap = true;
      continue;
    }
    while (gap && at < lines.size() && !matches(lines[at], line)) ++at;
    if (at == lines.size() || !matches(lines[at], line))
      return "  was: " + line + "\n  is:  " + (at < lines.size() && !gap ? lines[at] : "(nowhere)") + "\n";
    gap = false;
    ++at;
  }
  return at == lines.size() || gap ? "" : "  is, and was not: " + lines[at] + "\n";
}

/// A JSON line in many, and without what differs from run to run and host to host.
inline std::string broken_json(const std::string& line) { return std::regex_replace(line, std::regex(",\""), ",\n\""); }
inline std::string blanked(const std::string& line) {
  static const std::regex varies(
      "\"(choosing_s|setup_s|run_s|verify_s|time_[a-z_]*_s|date|(copied_|alg|bus)[a-z_]*per_s|hops_per_s|memory_bytes|peak_rss_bytes|"
      "threads|executor|version|commit|host)\":(\"[^\"]*\"|[^,}\\]]*)");
  return std::regex_replace(line, varies, "\"$1\":...");
}

struct Exchange {
  std::vector<std::string> words;  ///< before it, with "# "
  std::string command;
  std::vector<std::string> expected;
};

inline std::vector<Exchange> exchanges_of(const std::string& file) {
  std::vector<Exchange> all;
  std::vector<std::string> words;
  for (const std::string& line : lines_of(text_of_file(file))) {
    if (line.starts_with("$ ")) {
      all.push_back({std::move(words), line.substr(2), {}});
      words.clear();
    } else if (line.starts_with("# ")) {
      words.push_back(line);
    } else if (!all.empty()) {
      all.back().expected.push_back(line);
    }
  }
  for (Exchange& exchange : all) {
    while (!exchange.expected.empty() && exchange.expected.back().empty()) exchange.expected.pop_back();
  }
  return all;
}

inline std::vector<std::string> seen_of(const Folder& folder, const std::string& command) {
  const std::string path = std::filesystem::path(TORUS_PROGRAM).parent_path().string();
  const Ended ended = run_program(
      "/bin/bash", {.arguments = {"-c", "exec 2>&1; unset COLUMNS; cd \"$0\"; PATH=$1:$PATH; " + command, folder.path(), path}});
  std::string text;
  for (const std::string& line : lines_of(ended.out)) text += (line.starts_with("{") ? broken_json(line) : line) + "\n";
  std::vector<std::string> lines = lines_of(text);
  if (ended.status != 0) lines.push_back("[" + std::to_string(ended.status) + "]");
  return lines;
}

}  // namespace exchanges

/// Runs the commands of a file of tests/transcripts, and compares.
inline void replay(const std::string& name) {
  const std::string file = TORUS_SOURCE_DIR "/tests/transcripts/" + name;
  const Folder folder;
  std::vector<exchanges::Exchange> all = exchanges::exchanges_of(file);
  REQUIRE_FALSE(all.empty());
  bool differs = false;
  for (exchanges::Exchange& exchange : all) {
    const std::vector<std::string> seen = exchanges::seen_of(folder, exchange.command);
    const std::string difference = exchanges::difference(seen, exchange.expected);
    if (difference.empty()) continue;
    if (std::getenv("TORUS_RECORD") == nullptr)
      FAIL_CHECK(file << "\n$ " << exchange.command << "\n" << difference << "TORUS_RECORD=1 and this test write it anew.");
    differs = true;
    exchange.expected.clear();
    for (const std::string& line : seen) exchange.expected.push_back(exchanges::blanked(line));
  }
  if (!differs || std::getenv("TORUS_RECORD") == nullptr) return;
  std::ofstream out(file);
  for (const exchanges::Exchange& exchange : all) {
    for (const std::string& line : exchange.words) out << line << '\n';
    out << "$ " << exchange.command << '\n';
    for (const std::string& line : exchange.expected) out << line << '\n';
    out << '\n';
  }
}

}  // namespace torus::support
