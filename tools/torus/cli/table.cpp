#include "tools/torus/cli/table.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>
#include <sys/ioctl.h>
#include <unistd.h>

#include "runtime/base/figures.hpp"
#include "tools/torus/cli/console.hpp"

namespace torus::command {
namespace {

bool wide = false;

constexpr std::size_t gap = 2;           // between columns
constexpr std::size_t least_words = 24;  // a column of words is not made narrower than this

/// What COLUMNS says; none unless it is a number.
std::optional<std::size_t> typed_width() {
  const char* const columns = std::getenv("COLUMNS");  // NOLINT(concurrency-mt-unsafe): nothing sets it
  if (columns == nullptr) return std::nullopt;
  const std::string_view text(columns);
  std::size_t width = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), width);
  return error == std::errc{} && end == text.data() + text.size() && width > 0 ? std::optional(width) : std::nullopt;
}

using Columns = std::vector<std::size_t>;

/// The width of each column of the table.
Columns widths_of(const Table& table) {
  Columns widths;
  for (const auto& line : table) {
    widths.resize(std::max(widths.size(), line.size()));
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  return widths;
}

/// Characters of a line with these columns.
std::size_t length_of(const Columns& columns, const Columns& widths) {
  std::size_t length = columns.empty() ? 0 : (columns.size() - 1) * gap;
  for (const std::size_t column : columns) length += widths[column];
  return length;
}

/// The text in lines of at most `width` characters, broken at spaces; a longer word has a line of its own, or
/// several where it lists values: a|b|c.
std::vector<std::string_view> lines_of(std::string_view text, std::size_t width) {
  std::vector<std::string_view> lines;
  while (text.size() > width) {
    std::size_t end = text.rfind(' ', width);
    if (end == std::string_view::npos || end == 0) {
      const std::size_t bar = text.rfind('|', width - 1);
      end = std::min(text.find(' ', 1), bar == std::string_view::npos ? bar : bar + 1);
    }
    if (end == std::string_view::npos) break;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(text.find_first_not_of(' ', end), text.size()));
  }
  if (!text.empty() || lines.empty()) lines.push_back(text);
  return lines;
}

/// The columns of the table, one under another; the last takes several lines where it is longer than `last_width`.
std::string text_of(const Table& table, const Columns& columns, const Columns& widths, std::size_t last_width) {
  std::string text;
  for (const auto& line : table) {
    std::string out;
    for (std::size_t i = 0; i + 1 < columns.size(); ++i) {
      const std::string_view cell = columns[i] < line.size() ? std::string_view(line[columns[i]]) : "";
      out += fmt::format("{:<{}}", cell, widths[columns[i]] + gap);
    }
    const std::size_t indent = out.size();
    const std::size_t last = columns.back();
    for (const std::string_view words : lines_of(last < line.size() ? std::string_view(line[last]) : "", last_width)) {
      out += words;
      out.erase(out.find_last_not_of(' ') + 1);
      text += out + "\n";
      out.assign(indent, ' ');
    }
  }
  return text;
}

/// Where the text of a long line goes on.
std::size_t hanging_indent(std::string_view line, std::size_t width) {
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t two = line.find("  ", begin);
  const std::size_t value = two == std::string_view::npos ? two : line.find_first_not_of(' ', two);
  if (value != std::string_view::npos && value <= width / 2) return value;
  return begin + (begin > 2 * gap ? 0 : gap);  // farther in it stands below a value already
}

}  // namespace

std::optional<std::size_t> line_width() {
  if (wide) return std::nullopt;
  if (const auto typed = typed_width()) return typed;
  winsize terminal{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &terminal) != 0 || terminal.ws_col == 0) return std::nullopt;
  return terminal.ws_col;
}

void show_wide() { wide = true; }

bool fits(const Table& table) {
  const auto width = line_width();
  const Columns widths = widths_of(table);
  Columns all(widths.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return !width || length_of(all, widths) <= *width;
}

std::string aligned(Table table, const Narrowing& narrowing) {
  for (auto& line : table) {
    for (std::string& cell : line) cell = printable(cell);
  }
  const Columns widths = widths_of(table);
  Columns columns(widths.size());
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  if (columns.empty()) return "";
  constexpr std::size_t any = std::string::npos;
  const std::size_t width = line_width().value_or(any);
  std::vector<std::string> left_out;
  for (const std::size_t column : narrowing.left_out) {
    if (length_of(columns, widths) <= width) break;
    columns.erase(std::find(columns.begin(), columns.end(), column));
    left_out.push_back(table.front()[column]);
  }
  const std::string note = left_out.empty() ? "" : fmt::format("--wide adds: {}\n", fmt::join(left_out, ", "));
  if (length_of(columns, widths) <= width) return text_of(table, columns, widths, any) + wrapped(note);

  const Columns before(columns.begin(), columns.end() - 1);
  const std::size_t taken = length_of(before, widths) + gap;
  const bool words = std::any_of(table.begin(), table.end(), [&](const auto& line) {
    return columns.back() < line.size() && line[columns.back()].size() > least_words;
  });
  if (words && taken + least_words <= width) return text_of(table, columns, widths, width - taken) + wrapped(note);

  std::string text;
  const Columns keys(columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(std::min(narrowing.keys, columns.size() - 1)));
  for (std::size_t next = keys.size(); next < columns.size();) {
    Columns part = keys;
    do part.push_back(columns[next++]);
    while (next < columns.size() && length_of(part, widths) + gap + widths[columns[next]] <= width);
    const std::size_t all_but_last = length_of({part.begin(), part.end() - 1}, widths) + gap;
    text += (text.empty() ? "" : "\n") + text_of(table, part, widths, std::max(least_words, width - std::min(width, all_but_last)));
  }
  return text + wrapped(note);
}

std::string wrapped(std::string_view text) {
  const auto width = line_width();
  if (!width) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
    if (line.size() <= *width || line.substr(begin).starts_with(program() + " ")) {
      out.append(line).append("\n");
      continue;
    }
    const std::size_t indent = std::min(hanging_indent(line, *width), *width / 2);
    const std::size_t first = std::max(begin, indent);  // names may be followed by a gap, where no line breaks
    out.append(line.substr(0, first));
    bool again = false;
    for (const std::string_view words : lines_of(line.substr(first), *width - first)) {
      if (again) out.append(first, ' ');
      out.append(words).append("\n");
      again = true;
    }
  }
  return out;
}

}  // namespace torus::command
