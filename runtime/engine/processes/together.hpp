/// What processes exchange outside of steps: values, texts, failures. All functions are collective.
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

/// A value that has an address of its own in a std::vector, also if it is a bool.
template <class T>
struct Plain {
  T value;
};

/// The value of each process, by process.
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
/// The bytes of each process, of any length, by process.
std::vector<std::vector<std::byte>> gather_bytes(Processes& processes, std::span<const std::byte> mine);

/// Rethrows the failure of lowest order on every process: the original on its own process, a copy of type and text on the others. Returns
/// if no process has one.
void throw_first(Processes& processes, const std::exception_ptr& mine, std::uint64_t order);
/// Runs a task in which a process may fail alone. If one does, all throw the exception of the first. processes: null for one process.
void run_on_all(Processes* processes, const std::function<void()>& part);

}  // namespace torus::detail
