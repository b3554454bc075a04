/// The list type of routes and coordinates: stored in place, because they are made for every message and must not allocate.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <type_traits>

#include <torus/error.hpp>

namespace torus {

/// A contiguous list of at most `Capacity` trivially copyable values. Only the values in use are written or copied.
template <class T, std::size_t Capacity>
class InlineVector {
  static_assert(std::is_trivial_v<T>, "else each list would write all its values at once");

 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  constexpr InlineVector() noexcept : size_{0} {}
  constexpr InlineVector(std::initializer_list<T> values) : size_{0} {
    for (const T& value : values) push_back(value);
  }
  constexpr explicit InlineVector(std::size_t count, T value = T{}) : size_{0} {
    while (size_ < count) push_back(value);
  }
  constexpr InlineVector(const InlineVector& other) noexcept : size_{other.size_} {
    for (std::size_t i = 0; i < size_; ++i) values_[i] = other.values_[i];
  }
  constexpr InlineVector& operator=(const InlineVector& other) noexcept {
    size_ = other.size_;
    for (std::size_t i = 0; i < size_; ++i) values_[i] = other.values_[i];
    return *this;
  }

  /// Throws InputError if the list is full.
  constexpr void push_back(T value) {
    if (size_ == Capacity) throw InputError("a list of more than " + std::to_string(Capacity) + " entries does not fit");
    values_[size_++] = value;
  }
  constexpr void pop_back() noexcept {
    TORUS_ASSERT(size_ > 0);
    --size_;
  }
  constexpr void clear() noexcept { size_ = 0; }

  constexpr std::size_t size() const noexcept { return size_; }
  constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr T* data() noexcept { return values_.data(); }
  constexpr const T* data() const noexcept { return values_.data(); }
  constexpr T* begin() noexcept { return data(); }
  constexpr T* end() noexcept { return data() + size_; }
  constexpr const T* begin() const noexcept { return data(); }
  constexpr const T* end() const noexcept { return data() + size_; }
  constexpr T& operator[](std::size_t i) noexcept {
    TORUS_ASSERT(i < size_);
    return values_[i];
  }
  constexpr const T& operator[](std::size_t i) const noexcept {
    TORUS_ASSERT(i < size_);
    return values_[i];
  }
  constexpr const T& back() const noexcept {
    TORUS_ASSERT(size_ > 0);
    return values_[size_ - 1];
  }

  friend constexpr bool operator==(const InlineVector& a, const InlineVector& b) noexcept {
    if (a.size_ != b.size_) return false;
    for (std::size_t i = 0; i < a.size_; ++i) {
      if (!(a.values_[i] == b.values_[i])) return false;
    }
    return true;
  }

 private:
  std::size_t size_;
  std::array<T, Capacity> values_;  // not initialised: see the class comment
};

}  // namespace torus
