/// What a plan says of the memory of its programs: their frames, measured, and their messages, counted.
#pragma once

#include <algorithm>
#include <functional>

#include <torus/machine.hpp>
#include <torus/message.hpp>
#include <torus/program.hpp>

#include "runtime/model/frames.hpp"

namespace torus {

/// For Plan::node_bytes: the frames of the programs that calls(node) makes, as a node's program calls them. None of them runs. One that
/// calls others is kept until these are made.
inline Bytes frames_of_calls(const Machine& machine, const std::function<void(Node&)>& calls) {
  return detail::frame_bytes(machine, 0, calls);
}
/// Makes a program and drops it, for frames_of_calls().
template <class Result>
void make(const ProgramOf<Result>&) noexcept {}

/// Plan::message_bytes of a node that sends `a_step` messages a step on average. Each has `blocks` blocks and a route of `legs` legs at
/// most. A message of several blocks lists their ids and their places.
constexpr Bytes bytes_of_messages(std::uint64_t a_step, std::uint64_t blocks = 1, std::uint64_t legs = 2) noexcept {
  return 2 * a_step * ((sizeof(Message) + 8 * legs + (blocks > 1 ? 8 * blocks : 8) + 63) / 64 * 64);
}

/// Bytes of `lists` lists that hold `ids` block ids together, for Plan::node_bytes. Counted are the headers, twice the ids, since lists
/// grow by doubling, and what the allocator rounds up.
constexpr Bytes bytes_of_lists(std::uint64_t lists, std::uint64_t ids) noexcept {
  constexpr Bytes header = 24, rounding = 24;
  return lists * (header + rounding) + 2 * sizeof(BlockId) * ids;
}

}  // namespace torus
