/// The one copy of each delivery: at once, deferred, or past the caches.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <torus/error.hpp>
#include <torus/machine.hpp>

#include "runtime/engine/payload/slot_pool.hpp"

namespace torus::detail {

/// Deferred copies, in the order in which they were requested. A store past the caches takes as long as memory, but the
/// processor does not wait for it: made one by one between sends, such copies leave the core while it works on the next messages. Long
/// copies in the caches are made one after the other: between sends each of them takes up to twice as long.
class CopyQueue {
 public:
  struct Copy {
    Slot from;
    Slot to;
    Bytes bytes;
  };
  /// A copy that is to be made now.
  struct Turn {
    Copy copy;
    std::size_t number, of;  // among those in a row that have its source
    Slot next;               // the source after that, 0 if it is not known yet
    Bytes next_bytes;
  };
  static constexpr std::size_t room = 64;

  bool empty() const noexcept { return begin_ == end_; }
  std::size_t size() const noexcept { return end_ - begin_; }
  /// There must be room.
  void push(const Copy& copy) noexcept {
    TORUS_ASSERT(size() < room);
    copies_[end_++ % room] = copy;
  }
  /// It must not be empty.
  Turn pop() noexcept {
    TORUS_ASSERT(!empty());
    const Copy copy = copies_[begin_ % room];
    if (turn_ == turns_) {
      turn_ = turns_ = 0;
      do ++turns_;
      while (begin_ + turns_ != end_ && copies_[(begin_ + turns_) % room].from == copy.from);
      next_ = begin_ + turns_ != end_ ? copies_[(begin_ + turns_) % room] : Copy{};
    }
    ++begin_;
    return {copy, turn_++, turns_, next_.from, next_.bytes};
  }
  void clear() noexcept { begin_ = end_ = turn_ = turns_ = 0; }

 private:
  std::array<Copy, room> copies_{};
  std::size_t begin_ = 0, end_ = 0;   // of those ever pushed
  std::size_t turn_ = 0, turns_ = 0;  // of the present source
  Copy next_{};
};

class Copier {
 public:
  /// The pool must outlive this.
  explicit Copier(SlotPool& slots) : slots_{&slots}, one_line_{slots.lengths().one() && slots.stride() == 64} {}

  [[gnu::always_inline]] inline void copy(Slot to, Slot from, Bytes bytes) const noexcept { copy(slots_->at(to), slots_->at(from), bytes); }
  [[gnu::always_inline]] inline void copy(std::byte* to, const std::byte* from, Bytes bytes) const noexcept {
    if (one_line_) [[likely]]
      return copy_line(to, from);
    if (streams(bytes)) return stream(to, from, bytes);
    if (bytes > 0) std::memcpy(to, from, bytes);
  }
  /// Whether blocks have a cache line each, so that copy_line() serves.
  bool one_line_each() const noexcept { return one_line_; }
  [[gnu::always_inline]] static inline void copy_line(std::byte* to, const std::byte* from) noexcept { std::memcpy(to, from, 64); }

  /// Whether blocks of 512 bytes or more are stored past the caches from now on, where they begin lines. Between two steps.
  void stream(bool on) noexcept { streaming_ = on && slots_->stride() % 64 == 0; }
  bool streams(Bytes bytes) const noexcept { return streaming_ && bytes >= 512; }

  /// Whether deferring a copy of this length pays. (In the caches, copies below 2 KiB take 2 per cent longer if deferred.)
  bool puts_off(Bytes bytes) const noexcept { return bytes >= 2048 || streams(bytes); }
  /// Puts off a copy for which puts_off() is true. May make older ones. Past the caches: one, when 16 wait, so that the next source is
  /// known well before its copy is due. Else all, when there is no room.
  void put_off(CopyQueue& copies, const CopyQueue::Copy& copy) noexcept {
    TORUS_ASSERT(puts_off(copy.bytes));
    if (streaming_ && copies.size() == 16)
      make_one(copies);
    else if (copies.size() == CopyQueue::room)
      make_all(copies);
    copies.push(copy);
  }
  void make_all(CopyQueue& copies) noexcept {
    while (!copies.empty()) make_one(copies);
  }

  /// After the last copy of a step: makes streamed bytes visible to others once they have passed the barrier.
  void fence() const noexcept {
#if defined(__SSE2__)
    if (streaming_) _mm_sfence();
#endif
  }

 private:
  /// Makes the oldest. Past the caches the next source is prefetched, line by line, while a source is copied to all its targets.
  void make_one(CopyQueue& copies) noexcept {
    constexpr std::size_t first_lines = 64;  // the processor prefetches those that follow
    const CopyQueue::Turn turn = copies.pop();
    if (!streaming_) return copy(turn.copy.to, turn.copy.from, turn.copy.bytes);
    const std::size_t lines = std::min<std::size_t>(turn.next_bytes / 64, first_lines);
    const std::size_t fetched = lines * turn.number / turn.of;
    stream(slots_->at(turn.copy.to), slots_->at(turn.copy.from), turn.copy.bytes, slots_->at(turn.next) + 64 * fetched,
           lines * (turn.number + 1) / turn.of - fetched, turn.of);
  }

  /// Stores past the caches: for payloads that are not read again soon and would only evict what is. Targets are 64-byte aligned. Meanwhile
  /// prefetches `ahead` lines from `next` on, one for every `pitch` that it copies. All in registers: an argument in memory waits behind
  /// the stores.
  [[gnu::noinline]] static void stream(std::byte* target, const std::byte* source, Bytes bytes, const std::byte* next = nullptr,
                                       std::size_t ahead = 0, std::size_t pitch = 1) noexcept {
#if defined(__SSE2__)
    const std::size_t lines = bytes / 64;
    std::size_t until_fetch = 1;
    for (std::size_t i = 0; i < lines; ++i) {
      if (--until_fetch == 0) {
        until_fetch = pitch;
        if (ahead > 0) {
          __builtin_prefetch(next, 0, 0);  // not to be kept in the outer caches: it is read now and then not for long
          next += 64;
          --ahead;
        }
      }
      const auto* from = reinterpret_cast<const __m128i*>(source + 64 * i);
      auto* to = reinterpret_cast<__m128i*>(target + 64 * i);
      const __m128i a = _mm_load_si128(from);
      const __m128i b = _mm_load_si128(from + 1);
      const __m128i c = _mm_load_si128(from + 2);
      const __m128i d = _mm_load_si128(from + 3);
      _mm_stream_si128(to, a);
      _mm_stream_si128(to + 1, b);
      _mm_stream_si128(to + 2, c);
      _mm_stream_si128(to + 3, d);
    }
    std::memcpy(target + 64 * lines, source + 64 * lines, bytes - 64 * lines);
#else
    static_cast<void>(next), static_cast<void>(ahead), static_cast<void>(pitch);
    std::memcpy(target, source, bytes);
#endif
  }

  SlotPool* slots_;
  bool one_line_;
  bool streaming_ = false;
};

}  // namespace torus::detail
