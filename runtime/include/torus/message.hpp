/// A message: control words and blocks, with the route that it took.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>

#include <torus/block.hpp>
#include <torus/error.hpp>
#include <torus/machine.hpp>
#include <torus/route.hpp>

namespace torus {

/// A control word of a header: 4 bytes on the channel.
using Word = std::uint32_t;

namespace detail {
class MessageArena;
class RehearsedMessage;

/// Throws RunError: a program asks for a message that has not arrived.
[[noreturn, gnu::cold]] void no_such_arrival(std::size_t i, std::size_t count);
}  // namespace detail

/// What a CheckedView lists.
enum class Listed : std::uint8_t { words, blocks, legs };

namespace detail {
/// Throws RunError: a program asks for `count` elements from `first` on, of a list of `size`.
[[noreturn, gnu::cold]] void not_listed(Listed what, std::size_t first, std::size_t count, std::size_t size);
}  // namespace detail

/// The control words, blocks or legs of a message, or the blocks of a node. Reads are checked: RunError where the list is shorter, with
/// which the run names the step and the node. What a program reads at a fixed place may not be there: a message may be lost, be late, or
/// have been meant for another node. Loops run over plain pointers; as an argument it is a std::span.
template <class T, Listed what>
class CheckedView {
 public:
  CheckedView() = default;
  CheckedView(const T* first, std::size_t count) noexcept : data_{first}, size_{count} {}
  explicit CheckedView(std::span<const T> list) noexcept : data_{list.data()}, size_{list.size()} {}

  const T* begin() const noexcept { return data_; }
  const T* end() const noexcept { return data_ + size_; }
  const T* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }

  const T& operator[](std::size_t i) const {
    if (i >= size_) [[unlikely]]
      detail::not_listed(what, i, 1, size_);
    return data_[i];
  }
  const T& front() const { return (*this)[0]; }
  const T& back() const { return (*this)[empty() ? 0 : size_ - 1]; }
  CheckedView first(std::size_t count) const { return subspan(0, count); }
  CheckedView last(std::size_t count) const {
    if (count > size_) [[unlikely]]
      detail::not_listed(what, 0, count, size_);
    return {end() - count, count};
  }
  CheckedView subspan(std::size_t from, std::size_t count) const {
    if (from > size_ || count > size_ - from) [[unlikely]]
      detail::not_listed(what, from, count, size_);
    return {data_ + from, count};
  }
  /// All from an element on.
  CheckedView subspan(std::size_t from) const {
    if (from > size_) [[unlikely]]
      detail::not_listed(what, from, 0, size_);
    return {data_ + from, size_ - from};
  }

 private:
  const T* data_ = nullptr;
  std::size_t size_ = 0;
};

using WordsView = CheckedView<Word, Listed::words>;
using BlocksView = CheckedView<BlockId, Listed::blocks>;
using LegsView = CheckedView<Leg, Listed::legs>;

/// What one node sent to another in one step. Valid until its receiver's next wait.
///
/// In memory the lists follow the fields directly, so that a message of one block over one leg is a single cache line.
class Message {
 public:
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;

  NodeId source() const noexcept { return static_cast<NodeId>(step_and_source_ >> 32U); }
  NodeId destination() const noexcept { return destination_; }
  /// The step in which it was sent.
  Step step() const noexcept { return static_cast<Step>(step_and_source_); }
  /// The legs that it travelled. None has 0 hops.
  LegsView route() const noexcept { return {reinterpret_cast<const Leg*>(after()), legs_}; }
  /// The channel by which it arrived, as (dimension, direction of travel). On a complete dimension the direction is the offset.
  Dimension dimension() const noexcept { return last_leg().dimension; }
  std::int32_t direction() const noexcept { return last_leg().hops; }
  /// Its blocks, in the sender's order.
  BlocksView blocks() const noexcept { return {reinterpret_cast<const BlockId*>(after() + 8 * std::size_t{legs_}), blocks_}; }
  /// Its control words.
  WordsView header() const noexcept {
    return {reinterpret_cast<const Word*>(after() + 8 * std::size_t{legs_} + room_for_ids(blocks_)), header_words_};
  }
  /// Its size on a channel: 4 bytes a control word, and the blocks' bytes.
  Bytes bytes() const noexcept { return bytes_ & most_bytes; }
  /// In a reduction: whether its blocks are combined with what the receiver holds. Else they take the place of it.
  bool combines() const noexcept { return registers() != 0; }
  /// The receiver's registers that they are combined into, a bit each.
  std::uint8_t registers() const noexcept { return static_cast<std::uint8_t>(bytes_ >> registers_at); }
  /// In a reduction: whether the sender has given its blocks away, by forward().
  bool releases() const noexcept { return (bytes_ & released) != 0; }

 private:
  friend class detail::MessageArena;
  friend class detail::RehearsedMessage;
  Message() = default;

  // What the bytes share a word with, so that the digest covers it.
  static constexpr unsigned registers_at = 56;
  static constexpr Bytes released = Bytes{1} << 55U;
  static constexpr Bytes most_bytes = released - 1;

  /// The ids fill whole words of 8 bytes; zeros pad them.
  static std::size_t room_for_ids(std::size_t blocks) noexcept { return (4 * blocks + 7) / 8 * 8; }
  const std::byte* after() const noexcept { return reinterpret_cast<const std::byte*>(this) + sizeof(Message); }
  std::byte* after() noexcept { return reinterpret_cast<std::byte*>(this) + sizeof(Message); }
  /// No message is delivered without one.
  const Leg& last_leg() const noexcept { return reinterpret_cast<const Leg*>(after())[legs_ - 1]; }

  NodeId destination_;
  std::uint32_t header_words_;
  std::uint32_t legs_;
  std::uint32_t blocks_;
  // For the engine: see MessageArena.
  std::uint32_t first_bucket_;  // of the first block, in the receiver's table
  std::uint32_t only_slot_;     // of an only block's bytes; else how many of the first blocks the receiver has forwarded
  // From here to the end of the block ids, and the counts: what a digest covers.
  std::uint64_t step_and_source_;  // step low, source high; written and hashed in one piece
  Bytes bytes_;                    // and above them, of a reduction: registers, and whether the sender releases
};

static_assert(std::endian::native == std::endian::little, "the digest reads messages as a little-endian processor stores them");

/// The order of a step's messages in traces and reports: by (source, route). Where channels are shared two can tie: then by bytes and
/// blocks.
inline bool trace_order(const Message* a, const Message* b) noexcept {
  if (a->source() != b->source()) return a->source() < b->source();
  const auto by_dimension = [](const Leg& x, const Leg& y) { return std::tie(x.dimension, x.hops) < std::tie(y.dimension, y.hops); };
  const RouteView p = a->route(), q = b->route();
  if (std::lexicographical_compare(p.begin(), p.end(), q.begin(), q.end(), by_dimension)) return true;
  if (std::lexicographical_compare(q.begin(), q.end(), p.begin(), p.end(), by_dimension)) return false;
  if (a->bytes() != b->bytes()) return a->bytes() < b->bytes();
  if (a->registers() != b->registers()) return a->registers() < b->registers();
  return std::lexicographical_compare(a->blocks().begin(), a->blocks().end(), b->blocks().begin(), b->blocks().end());
}

/// The messages that a node received in a step, ordered by (in-channel, source); those of one source in the order in which it sent them.
/// In-channels are ordered by dimension, + before -. A view: the messages are valid until the next wait, and so is what they return.
class Arrivals {
 public:
  class Iterator {
   public:
    explicit Iterator(const Message* const* at) noexcept : at_{at} {}
    const Message& operator*() const noexcept { return **at_; }
    const Message* operator->() const noexcept { return *at_; }
    Iterator& operator++() noexcept {
      ++at_;
      return *this;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    const Message* const* at_;
  };

  Arrivals() = default;
  Arrivals(const Message* const* first, std::size_t count) noexcept : first_{first}, count_{count} {}
  Iterator begin() const noexcept { return Iterator{first_}; }
  Iterator end() const noexcept { return Iterator{first_ + count_}; }
  std::size_t size() const noexcept { return count_; }
  bool empty() const noexcept { return count_ == 0; }
  /// Throws RunError if there are fewer.
  const Message& operator[](std::size_t i) const {
    if (i >= count_) [[unlikely]]
      detail::no_such_arrival(i, count_);
    return *first_[i];
  }
  /// Throws RunError if there is none.
  const Message& front() const { return (*this)[0]; }

 private:
  const Message* const* first_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace torus
