// SPDX-License-Identifier: MIT
/// Memory of the messages of a step: a worker's own, given back all at once when the step is two barriers old.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "runtime/detail/region.hpp"
#include "runtime/message.hpp"

namespace torus::detail {

/// Not thread-safe for writing; what it holds may be read by every worker after the barrier.
class MessageArena {
 public:
  /// Room for a message with the given lists, whose contents the caller writes through the functions below.
  Message* allocate(std::size_t blocks, std::size_t legs, std::size_t header_words) {
    const std::size_t size = size_of(blocks, legs, header_words);
    if (used_ + size > room_) next_chunk(size);
    auto* message = new (chunks_[chunk_].memory.data() + used_) Message;
    used_ += size;
    chunks_[chunk_].used = used_;
    message->blocks_ = static_cast<std::uint32_t>(blocks);
    message->legs_ = static_cast<std::uint32_t>(legs);
    message->header_words_ = static_cast<std::uint32_t>(header_words);
    message->zero_ = 0;
    return message;
  }

  /// Forgets all messages; keeps the memory.
  void clear() noexcept {
    for (std::size_t i = 0; i <= chunk_ && i < chunks_.size(); ++i) chunks_[i].used = 0;
    chunk_ = 0;
    used_ = 0;
    room_ = chunks_.empty() ? 0 : chunks_.front().memory.size();
  }

  template <class F>
  void for_each(F&& f) const {
    for (const Chunk& chunk : chunks_) {
      for (std::size_t at = 0; at < chunk.used;) {
        const auto* message = reinterpret_cast<const Message*>(chunk.memory.data() + at);
        f(*message);
        at += size_of(message->blocks_, message->legs_, message->header_words_);
      }
    }
  }

  std::size_t footprint() const noexcept {
    std::size_t bytes = 0;
    for (const Chunk& chunk : chunks_) bytes += chunk.memory.size();
    return bytes;
  }

  static void set_ends(Message& m, Step step, NodeId source, NodeId destination, std::uint32_t in_slot, Bytes bytes) noexcept {
    m.step_ = step;
    m.source_ = source;
    m.destination_ = destination;
    m.in_slot_ = in_slot;
    m.bytes_ = bytes;
  }
  static std::uint32_t in_slot(const Message& m) noexcept { return m.in_slot_; }
  static BlockId* blocks(Message& m) noexcept { return reinterpret_cast<BlockId*>(m.after()); }
  static Leg* legs(Message& m) noexcept { return reinterpret_cast<Leg*>(m.after() + 8 * std::size_t{m.blocks_}); }
  static Word* header(Message& m) noexcept { return reinterpret_cast<Word*>(m.after() + 8 * (std::size_t{m.blocks_} + m.legs_)); }
  /// The receiver's slots with the blocks' bytes, one a block.
  static std::uint32_t* slots(Message& m) noexcept { return reinterpret_cast<std::uint32_t*>(header(m) + m.header_words_); }
  static const std::uint32_t* slots(const Message& m) noexcept { return slots(const_cast<Message&>(m)); }
  /// What the trace digest covers: step, ends, sizes, blocks, route.
  static std::span<const std::byte> digested(const Message& m) noexcept {
    return {reinterpret_cast<const std::byte*>(&m.step_), 32 + 8 * (std::size_t{m.blocks_} + m.legs_)};
  }

 private:
  struct Chunk {
    Region<std::byte> memory;
    std::size_t used = 0;
  };

  /// Whole cache lines, so that two messages never share one.
  static std::size_t size_of(std::size_t blocks, std::size_t legs, std::size_t header_words) noexcept {
    return (sizeof(Message) + 12 * blocks + 8 * legs + 4 * header_words + 63) / 64 * 64;
  }

  void next_chunk(std::size_t size) {
    if (!chunks_.empty()) ++chunk_;
    while (chunk_ < chunks_.size() && chunks_[chunk_].memory.size() < size) ++chunk_;
    if (chunk_ >= chunks_.size()) {
      const std::size_t usual = chunks_.empty() ? std::size_t{128} << 10U : std::min<std::size_t>(2 * chunks_.back().memory.size(), std::size_t{16} << 20U);
      chunks_.push_back({Region<std::byte>(std::max(usual, (size + 4095) / 4096 * 4096)), 0});
      chunk_ = chunks_.size() - 1;
    }
    used_ = 0;
    room_ = chunks_[chunk_].memory.size();
  }

  std::vector<Chunk> chunks_;
  std::size_t chunk_ = 0;
  std::size_t used_ = 0;
  std::size_t room_ = 0;
};

}  // namespace torus::detail
