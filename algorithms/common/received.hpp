/// Checks of what a message says, for programs: a message may be lost, come late, or have been meant for another node.
///
/// CheckedView checks what a program reads of a message; this checks what it does with it. All throw RunError, with which the run names the
/// step and the node. An index, a length or a rank that a message decides goes through one of them before it is used. A block's id needs
/// none: the engine delivers no block that does not exist.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <torus/error.hpp>
#include <torus/message.hpp>

namespace torus {

/// Throws RunError: the message is none that the program waits for. why: what is wrong with it, as "none is due along this dimension".
[[noreturn, gnu::cold]] inline void unexpected(const Message& message, std::string_view why) {
  throw RunError("a message from node " + std::to_string(message.source()) + " of step " + std::to_string(message.step()) +
                 " along dimension " + std::to_string(message.dimension()) + ": " + std::string(why));
}

/// Throws RunError: a message says a value outside of [low, high].
[[noreturn, gnu::cold]] inline void out_of_bounds(std::string_view what, std::int64_t value, std::int64_t low, std::int64_t high) {
  throw RunError("a message brings the " + std::string(what) + " " + std::to_string(value) + ": it must be " + std::to_string(low) +
                 " to " + std::to_string(high) + " here");
}

/// A control word that must lie in [low, high]. what: its name in the error.
template <class Integer>
Integer bounded(Word word, Integer low, std::type_identity_t<Integer> high, std::string_view what) {
  const auto value = static_cast<Integer>(word);
  if (std::int64_t{value} < std::int64_t{low} || std::int64_t{value} > std::int64_t{high}) [[unlikely]]
    out_of_bounds(what, value, low, high);
  return value;
}

/// The element of a table at an index that a message decides.
template <class Table, class Index>
auto& checked_at(Table& table, Index index) {
  const auto at = static_cast<std::size_t>(index);  // of a negative one: too large
  if (at >= table.size()) [[unlikely]]
    out_of_bounds("index", static_cast<std::int64_t>(index), 0, static_cast<std::int64_t>(table.size()) - 1);
  return table[at];
}

/// What a schedule expects of a message, if anything.
template <class T>
const T& due(const std::optional<T>& expected, const Message& message) {
  if (!expected) [[unlikely]]
    unexpected(message, "none is due by this channel in this step");
  return *expected;
}

/// Rows of different lengths in two arrays: a table that a plan computes once and all nodes read, by an index that a message may decide.
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
