/// Arrays of zeros, unless asked otherwise. Large ones come straight from the kernel, on huge pages where the host has them, and are
/// touched only where used. Small ones come from the heap: of many short runs, most of the time would go into calls of the kernel.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <sys/mman.h>
#include <utility>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // Linux 5.14; older kernels refuse it and we touch the pages by hand
#endif

namespace torus::detail {

/// Keeps the pages of the last Unzeroed Region that was given it and destroyed; the next such Region takes them. So the kernel need not
/// find and zero memory again for each of many runs of like size. Kept pages count as used memory. Not thread-safe.
class KeptPages {
 public:
  KeptPages() = default;
  KeptPages(const KeptPages&) = delete;
  KeptPages& operator=(const KeptPages&) = delete;
  ~KeptPages() { drop(); }

  void keep(std::span<std::byte> pages) noexcept {
    drop();
    pages_ = pages;
  }
  /// The kept pages, if they are at least `bytes` long; else they are dropped, and the result is empty.
  std::span<std::byte> take(std::size_t bytes) noexcept {
    if (pages_.size() < bytes) drop();
    return std::exchange(pages_, {});
  }

 private:
  void drop() noexcept {
    if (!pages_.empty()) ::munmap(pages_.data(), pages_.size());
    pages_ = {};
  }

  std::span<std::byte> pages_;
};

/// `count` values of T whose all-zero bytes are a valid T. If large, address space only, until a page is written. Not copied, not resized.
template <class T>
class Region {
 public:
  /// The values may be those of an earlier Region.
  struct Unzeroed {
    KeptPages* pages = nullptr;  ///< gives and takes the memory, and must outlive the Region; null: the kernel does
  };

  Region() = default;
  /// Throws std::bad_alloc if there is no such address space.
  explicit Region(std::size_t count) : bytes_{round_up(count * sizeof(T))}, count_{count} {
    provide();
    if (small() && count > 0) std::memset(static_cast<void*>(data_), 0, bytes_);
  }
  Region(std::size_t count, Unzeroed from) : bytes_{round_up(count * sizeof(T))}, count_{count}, keeper_{small() ? nullptr : from.pages} {
    const std::span<std::byte> found = keeper_ != nullptr ? keeper_->take(bytes_) : std::span<std::byte>{};
    if (!found.empty()) {
      data_ = reinterpret_cast<T*>(found.data());
      bytes_ = found.size();
      return;
    }
    if (keeper_ != nullptr) bytes_ = std::bit_ceil(bytes_);  // address space, for a later Region that is a little larger
    provide();
  }
  Region(Region&& other) noexcept { *this = std::move(other); }
  Region& operator=(Region&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(count_, other.count_);
    std::swap(keeper_, other.keeper_);
    return *this;
  }
  ~Region() {
    if (small())
      std::free(data_);
    else if (keeper_ != nullptr)
      keeper_->keep({reinterpret_cast<std::byte*>(data_), bytes_});
    else
      ::munmap(data_, bytes_);
  }

  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return count_; }
  T& operator[](std::size_t i) noexcept { return data_[i]; }
  const T& operator[](std::size_t i) const noexcept { return data_[i]; }

  /// Takes the values from `from` on off huge pages, for what is mostly much smaller than one. At multiples of a page.
  void on_small_pages(std::size_t from, std::size_t count) noexcept { ::madvise(data_ + from, count * sizeof(T), MADV_NOHUGEPAGE); }

  /// Makes the kernel provide part `part` of `parts` of the first `count` values now, or of `count` values from `first` on, so that no page
  /// fault falls into the timed run.
  void populate(std::size_t count, unsigned part, unsigned parts) { populate(0, count, part, parts); }
  void populate(std::size_t first, std::size_t count, unsigned part, unsigned parts) {
    if (count == 0 || small()) return;
    // Far less than was reserved, all in one part and not on huge pages: for a small machine, zeroing one takes longer than a run.
    const bool little = count * sizeof(T) < huge_page / 8 && bytes_ >= huge_page;
    if (little) {
      if (part > 0) return;
      parts = 1;
    }
    const std::size_t unit = count * sizeof(T) >= huge_page ? huge_page : 4096;
    const std::size_t begin = first * sizeof(T) / unit;
    const std::size_t units = ((first + count) * sizeof(T) + unit - 1) / unit - begin;
    const std::size_t from = (begin + units * part / parts) * unit;
    const std::size_t to = std::min(bytes_, (begin + units * (part + 1) / parts) * unit);
    auto* const memory = reinterpret_cast<char*>(data_);
    if (little) ::madvise(memory + from, to - from, MADV_NOHUGEPAGE);
    // A huge page at a time: the kernel lets no other thread map memory until such a call returns, and where the host must find the pages
    // first that takes seconds for a gigabyte.
    for (std::size_t at = from; at < to; at += huge_page) populate(memory + at, std::min(huge_page, to - at));
  }

 private:
  static constexpr std::size_t least_mapped = std::size_t{1} << 17U;
  bool small() const noexcept { return bytes_ < least_mapped; }
  void provide() {
    if (bytes_ == 0) return;
    if (small()) {
      data_ = static_cast<T*>(std::aligned_alloc(alignment, bytes_));
      if (data_ == nullptr) throw std::bad_alloc();
      return;
    }
    void* memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<T*>(memory);
    if (bytes_ >= huge_page) ::madvise(memory, bytes_, MADV_HUGEPAGE);
  }
  static void populate(char* first, std::size_t bytes) noexcept {
    if (::madvise(first, bytes, MADV_POPULATE_WRITE) == 0) return;
    for (std::size_t at = 0; at < bytes; at += 4096) {
      volatile char& touched = first[at];
      touched = touched;
    }
  }

  static constexpr std::size_t huge_page = std::size_t{1} << 21U;
  static constexpr std::size_t alignment = 128;  // two cache lines, which are fetched together
  static_assert(alignof(T) <= alignment);
  static std::size_t round_up(std::size_t bytes) noexcept {
    const std::size_t unit = bytes >= huge_page ? huge_page : bytes >= least_mapped ? 4096 : alignment;
    return (bytes + unit - 1) / unit * unit;
  }

  T* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t count_ = 0;
  KeptPages* keeper_ = nullptr;  // of its pages
};

/// Calls make(n) for n = most, then for half of that, and so on down to `least`, until there is address space for it; returns that n.
/// Throws std::bad_alloc if there is none for `least` either.
template <class F>
std::size_t reserve_most(std::size_t most, std::size_t least, F&& make) {
  for (std::size_t n = most;; n = std::max(least, n / 2)) {
    try {
      make(n);
      return n;
    } catch (const std::bad_alloc&) {
      if (n <= least) throw;
    }
  }
}

}  // namespace torus::detail
