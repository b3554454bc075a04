/// The table of a study that has not ended: a file beside the one it will become, to which each finished row is added at once, so that a
/// command that is killed loses only its current row.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace torus::command {

/// Beside `out.csv` it is `out.csv.part`: a line that says what it is a part of, and a line for each row, before it its number and a hash.
/// Not for two processes at once: the second is refused.
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
  const std::string& row(std::size_t row) const { return rows_.at(row); }
  std::size_t rows() const noexcept { return rows_.size(); }

  /// Adds a row, a line without its end. Throws RunError if the disk is full.
  void add(std::size_t row, const std::string& line);

  /// Removes the file.
  void drop();

 private:
  void read(const std::string& origin);
  bool read_row(std::string_view line);
  void append(std::string_view text);

  std::string path_;
  int descriptor_ = -1;
  std::map<std::size_t, std::string> rows_;
};

}  // namespace torus::command
