/// What the judge of traces keeps of a machine: arrays that cost what messages touch, and which blocks have reached which nodes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <unordered_set>

#include <torus/machine.hpp>

namespace torus::detail {

/// An array of zeros whose pages stay untouched until they are used.
template <class T>
class Zeros {
 public:
  explicit Zeros(std::size_t size) : values_{static_cast<T*>(std::calloc(std::max<std::size_t>(size, 1), sizeof(T)))} {
    if (!values_) throw std::bad_alloc();
  }
  T& operator[](std::size_t i) noexcept { return values_[i]; }
  const T& operator[](std::size_t i) const noexcept { return values_[i]; }

 private:
  struct Free {
    void operator()(T* p) const noexcept { std::free(p); }
  };
  std::unique_ptr<T[], Free> values_;
};

/// The (node, block) pairs such that the block has reached the node. A bitmap if that takes at most a quarter of the memory: pages without
/// a pair stay untouched. Else a hash set, of at most half the memory.
class Held {
 public:
  Held(std::uint64_t nodes, std::uint64_t blocks, Bytes memory) : blocks_{blocks}, most_{memory / 2 / hash_set_entry} {
    const double words = static_cast<double>(nodes) * static_cast<double>(blocks) / 64 + 1;
    if (words <= static_cast<double>(memory) / (4 * 8)) bits_.emplace(static_cast<std::size_t>(words));
  }

  bool has(std::uint64_t node, std::uint64_t block) const {
    const std::uint64_t pair = node * blocks_ + block;
    return bits_ ? ((*bits_)[pair / 64] >> (pair % 64) & 1U) != 0 : set_.count(pair) != 0;
  }
  /// False if it has the pair already.
  bool add(std::uint64_t node, std::uint64_t block) {
    const std::uint64_t pair = node * blocks_ + block;
    if (!bits_) return set_.insert(pair).second;
    std::uint64_t& word = (*bits_)[pair / 64];
    const std::uint64_t bit = std::uint64_t{1} << (pair % 64);
    const bool added = (word & bit) == 0;
    word |= bit;
    return added;
  }
  /// True if there is no memory for another pair.
  bool full() const noexcept { return set_.size() >= most_; }

 private:
  static constexpr Bytes hash_set_entry = 64;  // the entry, and its share of the buckets, of which there are two tables during growth
  std::uint64_t blocks_;
  std::uint64_t most_;
  std::optional<Zeros<std::uint64_t>> bits_;
  std::unordered_set<std::uint64_t> set_;
};

}  // namespace torus::detail
