/// What processes tell each other outside of steps: values, texts, failures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <torus/processes.hpp>

namespace torus::detail {

inline std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text.data(), text.size())); }
inline std::string text_of(std::span<const std::byte> bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

/// A value in bytes of its own, also where it is a bool.
template <class T>
struct Plain {
  T value;
};

/// What each process tells all, by process.
template <class T>
std::vector<T> exchange_each(Processes& processes, const T& mine) {
  static_assert(std::is_trivially_copyable_v<T>);
  const std::vector<Plain<T>> rows(processes.count(), Plain<T>{mine});
  std::vector<Plain<T>> all(processes.count(), Plain<T>{mine});
  processes.all_to_all(std::as_bytes(std::span(rows)), std::as_writable_bytes(std::span(all)));
  std::vector<T> values;
  for (const Plain<T>& each : all) values.push_back(each.value);
  return values;
}
/// The same of any length.
std::vector<std::vector<std::byte>> gather_bytes(Processes& processes, std::span<const std::byte> mine);

/// Throws, in all processes, if one has an exception: the one of the lowest order, which is its own there, and of its kind and text
/// elsewhere.
void throw_first(Processes& processes, const std::exception_ptr& mine, std::uint64_t order);
/// Runs a part of set-up or of the end in which a process may fail alone: all throw if one does, the first one's exception. processes:
/// null for one.
void together(Processes* processes, const std::function<void()>& part);

}  // namespace torus::detail
