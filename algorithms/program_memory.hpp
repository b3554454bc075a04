/// What a plan says of the memory of its programs: their frames, measured, and their messages, counted.
#pragma once

#include <algorithm>
#include <functional>

#include <torus/machine.hpp>
#include <torus/message.hpp>
#include <torus/program.hpp>

#include "runtime/model/frames.hpp"

namespace torus {

/// Plan::called_frames: of the programs that calls(node) makes, as a node's program calls them. None of them runs. One that calls others is
/// kept until these are made.
inline Bytes frames_of_calls(const Machine& machine, const std::function<void(Node&)>& calls) {
  return detail::frame_bytes(machine, 0, calls);
}
/// Makes a program and drops it, for frames_of_calls().
template <class Result>
void make(const ProgramOf<Result>&) noexcept {}

/// Plan::message_bytes where a node sends so many messages in a step, on average, of so many blocks each over a leg or two. Of more than
/// one block a message lists the ids and where they are.
constexpr Bytes bytes_of_messages(std::uint64_t a_step, std::uint64_t blocks = 1, std::uint64_t legs = 2) noexcept {
  return 2 * a_step * ((sizeof(Message) + 8 * legs + (blocks > 1 ? 8 * blocks : 8) + 63) / 64 * 64);
}

/// Of Plan::node_bytes: lists of block ids, with so many ids together. Their headers, twice the ids as lists grow, and what the allocator
/// rounds up.
constexpr Bytes bytes_of_lists(std::uint64_t lists, std::uint64_t ids) noexcept {
  constexpr Bytes header = 24, rounding = 24;
  return lists * (header + rounding) + 2 * sizeof(BlockId) * ids;
}

}  // namespace torus
