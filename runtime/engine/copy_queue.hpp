/// Copies of blocks that are put off a little.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <torus/error.hpp>
#include <torus/machine.hpp>

namespace torus::detail {

/// A place for one block's bytes; 0 means none.
using Slot = std::uint32_t;

/// Copies that are still to be made, in the order in which they were asked for. A store past the caches takes as long as memory, but the
/// processor does not wait for it: made one by one between sends, such copies leave the core while it works on the next messages. Long
/// copies in the caches had better follow each other: between sends each of them takes up to twice as long.
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

}  // namespace torus::detail
