/// Tables and paragraphs that fit the terminal.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <torus/report.hpp>

namespace torus::command {

/// Characters that a line may have: COLUMNS if that is set, else the columns of the terminal that standard output is; none (any number)
/// where it is a file or a pipe, or after show_wide().
std::optional<std::size_t> line_width();
/// From now on lines are as long as they want to be: --wide.
void show_wide();

/// Rows of cells; the first row is the head.
using Table = std::vector<std::vector<std::string>>;

/// How a table becomes narrower.
struct Narrowing {
  std::vector<std::size_t> left_out = {};  ///< columns that go first, in this order
  std::size_t keys = 1;                    ///< first columns, which every part repeats where the rest takes several
};

/// Whether the table fits the line as it is.
bool fits(const Table& table);
/// The table with columns as wide as they must be; cells are made printable(). Where that is too wide for a line, columns are left out,
/// and a last line names them; then the words of the last column take several lines; then columns go on in a second part below.
std::string aligned(Table table, const Narrowing& narrowing = {});
using torus::aligned;  // of rows: a name, and what is said of it
/// Text whose longer lines go on in the next line, below what stands after their first gap of two spaces, or two spaces further in. Lines
/// break at spaces only; a line that is a command of this program stays whole, to be copied.
std::string wrapped(std::string_view text);

}  // namespace torus::command
