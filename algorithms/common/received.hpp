/// Checks of what a message says, for programs: a message may be lost, come late, or have been meant for another node.
///
/// CheckedView checks what a program reads of a message; this checks what it does with it. All throw RunError, with which the run names the
/// step and the node. An index, a length or a rank that a message decides goes through one of them before it is used. A block's id needs
/// none: the engine delivers no block that does not exist.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include <torus/message.hpp>

namespace torus {

/// Throws RunError: the message is none that the program waits for. why: what is wrong with it, as "none is due along this dimension".
[[noreturn, gnu::cold]] void unexpected(const Message& message, std::string_view why);

/// Throws RunError: a message says a value outside of [low, high].
[[noreturn, gnu::cold]] void out_of_bounds(std::string_view what, std::int64_t value, std::int64_t low, std::int64_t high);

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

}  // namespace torus
