/// A message kept beyond its step.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <torus/message.hpp>

#include "runtime/engine/message_arena.hpp"

namespace torus::detail {

/// All that a message says, and the slots with its blocks' bytes: their owner until restore().
class SavedMessage {
 public:
  explicit SavedMessage(const Message& m)
      : destination_{m.destination()},
        step_and_source_{MessageArena::step_and_source(m.step(), m.source())},
        bytes_{m.bytes()},
        first_bucket_{MessageArena::first_bucket(m)},
        legs_(m.route().begin(), m.route().end()),
        blocks_(m.blocks().begin(), m.blocks().end()),
        header_(m.header().begin(), m.header().end()),
        slots_(MessageArena::slots(m), MessageArena::slots(m) + m.blocks().size()) {}

  std::span<const BlockId> blocks() const noexcept { return blocks_; }
  std::vector<std::uint32_t>& slots() noexcept { return slots_; }

  /// The message again, in an arena. As it was before its receiver forwarded any of it.
  Message& restore(MessageArena& arena) const {
    Message& m = arena.write(step_and_source_, destination_, bytes_, legs_, blocks_, header_);
    MessageArena::first_bucket(m) = first_bucket_;
    if (blocks_.size() != 1) MessageArena::forwarded(m) = 0;
    std::copy(slots_.begin(), slots_.end(), MessageArena::slots(m));
    return m;
  }

 private:
  NodeId destination_;
  std::uint64_t step_and_source_;
  Bytes bytes_;
  std::uint32_t first_bucket_;
  std::vector<Leg> legs_;
  std::vector<BlockId> blocks_;
  std::vector<Word> header_;
  std::vector<std::uint32_t> slots_;
};

}  // namespace torus::detail
