/// Everything that decides a run, as text: processes that do one together compare it.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <torus/groups.hpp>
#include <torus/machine.hpp>
#include <torus/placement.hpp>
#include <torus/reduction.hpp>

namespace torus::detail {

/// Lines "name value", which are equal only where the values are: a floating-point number has its bit pattern beside it, enumerators are
/// numbers, and a list of many numbers is their count and a hash.
class Description {
 public:
  template <class T>
  void add(std::string_view name, const T& value) {
    line(name, in_full(value));
  }
  const std::string& text() const noexcept { return text_; }

 private:
  static constexpr std::size_t listed = 16;  // longer lists are hashed

  static std::string in_full(double value);
  static std::string in_full(std::string_view value);
  static std::string in_full(const std::string& value) { return in_full(std::string_view(value)); }
  static std::string in_full(const Link& link);
  static std::string in_full(const SlowLink& slow);
  static std::string in_full(const DimensionShape& dimension);
  static std::string in_full(const Reduction& reduction);
  template <std::integral T>
  static std::string in_full(T value) {
    return std::to_string(value);
  }
  template <class T>
  requires std::is_enum_v<T>
  static std::string in_full(T value) { return std::to_string(static_cast<std::uint64_t>(value)); }
  template <class T>
  static std::string in_full(const std::optional<T>& value) {
    return value ? in_full(*value) : "none";
  }
  template <class T>
  static std::string in_full(const std::vector<T>& values) {
    if constexpr (std::integral<T>) {
      if (values.size() > listed) return hashed(values.size(), std::as_bytes(std::span(values)));
    }
    std::string text;
    for (const T& value : values) text += (text.empty() ? "" : ";") + in_full(value);
    return text;
  }
  static std::string hashed(std::size_t count, std::span<const std::byte> bytes);
  void line(std::string_view name, std::string value);

  std::string text_;
};

// Each binds all members of its value by name: a member that is added later does not compile until it is described, or left out with a
// reason.

void describe(Description& to, const Topology& topology);
void describe(Description& to, const Machine& machine);
void describe(Description& to, const SizeRule& sizes);
void describe(Description& to, const Placement& placement);
void describe(Description& to, const Groups& groups);

/// The first line in which two texts of a Description differ: "byte_s 2 .. instead of byte_s 1 ..". They differ.
std::string difference(std::string_view text, std::string_view wanted);

}  // namespace torus::detail
