/// The table of a sweep, or of single failures, that has not ended: a file beside the one it will become, to which each finished row is
/// added at once, so that a command that is killed loses only its current row.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "runtime/base/output_file.hpp"

namespace torus::command {

/// Beside `out.csv` it is `out.csv.part`: a line that says what it is a part of, a line of names, and a line for each row, before it its
/// number and a hash of names and row. Not for two processes at once: the second is refused.
class UnfinishedTable {
 public:
  /// Goes on with the file that is there, or begins one. `origin` is one line, all that decides what is in the rows; a file of another
  /// origin is refused. A last line that is not whole is dropped. Throws InputError.
  UnfinishedTable(const std::string& path, const std::string& origin);
  ~UnfinishedTable();
  UnfinishedTable(const UnfinishedTable&) = delete;
  UnfinishedTable& operator=(const UnfinishedTable&) = delete;

  bool has(std::size_t row) const { return rows_.contains(row); }
  /// A row that is there, as it was added.
  const std::string& values(std::size_t row) const { return rows_.at(row).values; }
  std::size_t rows() const noexcept { return rows_.size(); }
  /// The rows of failed runs.
  std::size_t failures() const noexcept;

  /// Adds a row; `names` and `values` are lines of CSV with their ends. Throws RunError if the disk is full, InputError where the rows that
  /// were there have other names.
  void add(std::size_t row, bool failed, const std::string& names, const std::string& values);

  /// Removes the file.
  void drop();
  /// Writes the names and all rows, by number, and removes the file.
  void finish(OutputFile& table);

 private:
  struct Row {
    bool failed = false;
    std::string values;
  };
  void read(const std::string& origin);
  bool read_row(std::string_view line);
  void append(std::string_view text);

  std::string path_;
  int descriptor_ = -1;
  std::string names_;  // empty: no row yet
  std::map<std::size_t, Row> rows_;
};

}  // namespace torus::command
