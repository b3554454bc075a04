/// Rows of different lengths in two arrays: the tables that a plan computes once and all nodes read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <torus/error.hpp>

namespace torus {

template <class T>
class RowTable {
 public:
  RowTable() = default;
  explicit RowTable(const std::vector<std::vector<T>>& rows) {
    start_.reserve(rows.size() + 1);
    for (const std::vector<T>& row : rows) {
      cells_.insert(cells_.end(), row.begin(), row.end());
      start_.push_back(static_cast<std::uint32_t>(cells_.size()));
    }
  }

  /// Throws RunError if there is no such row: a message has come to a node, or in a step, that the table was not made for.
  std::span<const T> row(std::size_t i) const {
    if (i >= start_.size() - 1) [[unlikely]]
      throw RunError("row " + std::to_string(i) + " of a table of " + std::to_string(start_.size() - 1) +
                     ": no message was to come here now");
    return {cells_.data() + start_[i], start_[i + 1] - start_[i]};
  }
  bool empty() const noexcept { return cells_.empty(); }
  std::uint64_t bytes() const noexcept { return cells_.size() * sizeof(T) + start_.size() * sizeof(std::uint32_t); }

 private:
  std::vector<std::uint32_t> start_{0};
  std::vector<T> cells_;
};

}  // namespace torus
