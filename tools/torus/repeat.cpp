#include "tools/torus/repeat.hpp"

#include <algorithm>
#include <exception>
#include <fmt/format.h>

#include "tools/torus/child.hpp"
#include "tools/torus/console.hpp"

namespace torus::command {
namespace {

/// The words of a line that command_line() wrote: blanks part them, but not between single quotes.
std::vector<std::string> words_of_line(const std::string& line) {
  std::vector<std::string> words{""};
  bool quoted = false;
  for (const char c : line) {
    if (c == '\'')
      quoted = !quoted;
    else if (c == ' ' && !quoted)
      words.emplace_back();
    else
      words.back() += c;
  }
  return words;
}

std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of('\n');
  if (end == std::string::npos) return "";
  const std::size_t before = text.rfind('\n', end);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  return text.substr(begin, end - begin + 1);
}

}  // namespace

std::string why_not_repeated(const RepeatLine& line, double seconds) {
  std::vector<std::string> words = words_of_line(line.command);
  if (words.front() != program()) return fmt::format("it was not tried: {} starts it", words.front());
  words.erase(words.begin());
  try {
    const ChildEnd end = run_child(own_program(), words, seconds);
    if (!end.started) return "it could not be started";
    if (!end.in_time) return fmt::format("it had not ended after {} s", seconds);
    if (end.status == -1) return "a signal ended it";
    const std::string last = last_line(end.err);
    if (end.status != line.status) return fmt::format("it ended with exit status {}{}{}", end.status, last.empty() ? "" : ": ", last);
    const auto missing = std::find_if(line.says.begin(), line.says.end(), [&](const std::string& text) {
      return end.out.find(text) == std::string::npos && end.err.find(text) == std::string::npos;
    });
    if (missing == line.says.end()) return "";
    return last.empty() ? fmt::format("it does not say '{}'", *missing) : fmt::format("it says: {}", last);
  } catch (const std::exception& error) {
    return fmt::format("it was not tried: {}", error.what());
  }
}

}  // namespace torus::command
