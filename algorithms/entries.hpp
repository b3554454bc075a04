/// What the source of an algorithm gives to the catalogue. Such a source stands in the list `algorithms` of CMakeLists.txt, its namespace
/// is torus::FOLDER::FILE, and it ends with
///     extern const Entries entries{mst, mst_naive};
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include <torus/algorithm.hpp>

namespace torus {

/// The algorithms of one source. Initialised before the program starts, so that the catalogue may be read at any time.
class Entries {
 public:
  template <typename... A>
  constexpr explicit(false) Entries(const A&... algorithms) noexcept : list_{&algorithms...}, count_{sizeof...(A)} {}
  constexpr operator std::span<const Algorithm* const>() const noexcept { return std::span(list_).first(count_); }

 private:
  static constexpr std::size_t max_ = 12;
  std::array<const Algorithm*, max_> list_;
  std::size_t count_;
};

}  // namespace torus
