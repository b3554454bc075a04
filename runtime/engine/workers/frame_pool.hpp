/// Memory of coroutine frames: a worker's own, from large chunks, recycled by size.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <vector>

#include "runtime/base/region.hpp"
#include "runtime/model/frames.hpp"

namespace torus::detail {

/// Not thread-safe: each worker has one. A frame may be freed to another pool than it came from; chunks live as long as the pools.
class FramePool {
 public:
  void* allocate(std::size_t bytes) {
    const std::size_t size_class = (bytes + unit - 1) / unit;
    if (size_class >= free_.size()) return ::operator new(bytes);
    if (Free* frame = free_[size_class]; frame != nullptr) {
      free_[size_class] = frame->next;
      if (frame->next != nullptr) __builtin_prefetch(frame->next, 1);  // the next to be given, mostly long out of the cache
      return frame;
    }
    const std::size_t size = size_class * unit;
    while (left_ < size) next_chunk();
    void* frame = next_;
    next_ += size;
    left_ -= size;
    return frame;
  }

  /// Whether a frame of this size comes from the pool: larger ones come from the heap.
  static constexpr bool pools(std::size_t bytes) noexcept { return (bytes + unit - 1) / unit < classes; }

  void free(void* memory, std::size_t bytes) noexcept {
    const std::size_t size_class = (bytes + unit - 1) / unit;
    if (size_class >= free_.size()) return ::operator delete(memory);
    free_[size_class] = new (memory) Free{free_[size_class]};
  }

  /// Bytes of chunks that frames have taken since reset().
  std::size_t used() const noexcept {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < used_chunks_; ++i) bytes += chunks_[i].size();
    return bytes - left_;
  }

  /// Takes all frames back: whatever was allocated here must have been freed. The next run then finds its frames in order.
  void reset() noexcept {
    free_.fill(nullptr);
    used_chunks_ = 0;
    left_ = 0;
  }

 private:
  [[gnu::noinline]] void next_chunk() {
    if (used_chunks_ == chunks_.size()) {
      const std::size_t size =
          chunks_.empty() ? std::size_t{64} << 10U : std::min<std::size_t>(chunks_.back().size() * 4, std::size_t{32} << 20U);
      chunks_.emplace_back(size, Region<std::byte>::Unzeroed{});
    }
    next_ = chunks_[used_chunks_].data();
    left_ = chunks_[used_chunks_].size();
    ++used_chunks_;
  }

  struct Free {
    Free* next;
  };
  static constexpr std::size_t unit = frame_unit;
  static constexpr std::size_t classes = 257;  // frames up to 8 KiB

  std::array<Free*, classes> free_{};
  std::vector<Region<std::byte>> chunks_;
  std::size_t used_chunks_ = 0;
  std::byte* next_ = nullptr;
  std::size_t left_ = 0;
};

}  // namespace torus::detail
