/// Violations: what a node program can do against the rules of the machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <torus/block.hpp>
#include <torus/machine.hpp>
#include <torus/route.hpp>
#include <torus/topology.hpp>

namespace torus {

enum class ViolationKind : std::uint8_t {
  empty_route,            ///< a route without a hop
  unknown_dimension,      ///< a leg in a dimension that the machine does not have
  leaves_the_machine,     ///< a leg past the end of a line, along an extent of 1, or to an offset that a complete dimension does not have
  dead_channel,           ///< a route over a dead link, or to or from a dead node
  more_than_one_hop,      ///< under packet switching
  not_dimension_ordered,  ///< under wormhole switching
  channel_crossed_twice,  ///< by one message
  channel_used_twice,     ///< by two messages of a step, where contention is forbidden
  too_many_sends,         ///< more than the ports
  too_many_receives,      ///< more than the ports
  block_not_held,         ///< a block was sent that the sender does not hold
  queue_overflow,         ///< more messages to a node over one shared channel than its queue takes, which is 8
  replaced_and_more,      ///< in a reduction, a partial takes the place of one for which more arrives in the same step
  leaves_the_group        ///< a leg to a node that is not of the sender's group
};

std::string_view name(ViolationKind kind) noexcept;

/// A message that breaks a rule, alone or with others.
struct ViolatingMessage {
  NodeId source = 0;
  std::vector<Leg> route = {};  ///< the first 32 legs
  std::uint64_t blocks = 0;     ///< how many; 0: control alone
  BlockId first_block = 0;      ///< of them
  Bytes bytes = 0;
};

/// One violation.
struct Violation {
  ViolationKind kind{};
  Step step = 0;
  NodeId node = 0;   ///< the sender; the receiver for too_many_receives, queue_overflow and replaced_and_more
  std::string text;  ///< one line that names step, node or channel, and the messages
  /// The first 4 of the messages; none where a message is not sent: block_not_held, and what leaves a group.
  std::vector<ViolatingMessage> messages = {};
};

}  // namespace torus
