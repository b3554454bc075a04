// SPDX-License-Identifier: MIT
/// What a node program can do against the rules of the machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

#include "runtime/machine.hpp"
#include "runtime/topology.hpp"

namespace torus {

/// Messages that the queue of an in-channel takes in one step where channels are shared; one where they are exclusive. Only a machine with more
/// ports can overflow it by that alone: with fewer, the node has too many receives as well, and that is named first.
inline constexpr int shared_queue_depth = 8;

enum class Offence : std::uint8_t {
  empty_route,             ///< no hop at all
  unknown_dimension,       ///< a leg names a dimension that the machine has not
  leaves_the_machine,      ///< over the end of a line, along an extent of 1, or to offset 0 of a complete dimension
  more_than_one_hop,       ///< under packet switching
  not_dimension_ordered,   ///< under wormhole switching
  channel_crossed_twice,   ///< by one message
  channel_used_twice,      ///< by two messages of a step, where contention is forbidden
  too_many_sends,          ///< more than the ports
  too_many_receives,       ///< more than the ports
  block_not_held,          ///< sent without being held
  queue_overflow           ///< more messages by one in-channel than shared_queue_depth
};

std::string_view name(Offence offence) noexcept;

/// One offence: where, when and, in words, who.
struct Violation {
  Offence offence{};
  Step step = 0;
  NodeId node = 0;   ///< the sender; the receiver for too_many_receives and queue_overflow
  std::string text;  ///< one line that names step, node or channel, and the messages
};

/// The order in which those of a step are reported.
inline bool reported_before(const Violation& a, const Violation& b) noexcept {
  return std::tie(a.node, a.offence, a.text) < std::tie(b.node, b.offence, b.text);
}

}  // namespace torus
