/// The judge of traces: legality of every step, causality and delivery. It derives everything from the trace alone and shares no code with
/// the engine or its auditor, so that it finds their mistakes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <torus/trace_reader.hpp>

namespace torus {

/// The result of judging a trace.
struct Verdict {
  bool ok = false;                      ///< legal and complete
  std::vector<std::string> violations;  ///< the first ones, in the order of the trace; each names step, node or channel
  bool stopped = false;                 ///< there were too many violations to read on
  std::uint64_t busy_steps = 0;         ///< steps with a message
  std::int64_t last_step = -1;          ///< the number of the last busy step; -1: none
  std::uint64_t messages = 0;
  std::uint64_t control_messages = 0;  ///< without a block
  std::uint64_t hops = 0;
  Bytes bytes = 0;
  std::uint64_t max_channel_load = 0;  ///< max messages on a channel in a step
  Bytes max_channel_bytes = 0;         ///< max bytes on a channel in a step
  Bytes channel_bytes = 0;             ///< sum over the steps of the max bytes on a channel: the factor of T_c in the model time
  double channel_time_s = 0;           ///< sum over the steps of the max over the channels of bytes times T_c, by the header's speeds
  std::uint64_t missing_blocks = 0;    ///< (node, block) pairs that were required and did not arrive
  // For reductions, in which missing_blocks counts blocks with wrong contributors.
  bool exact_contributors = true;     ///< judged by exact sets of nodes; false: by sums of random keys, as the sets do not fit in memory
  std::uint64_t combined_blocks = 0;  ///< blocks that were combined with one that the receiver held
  std::uint64_t node_combined_blocks = 0;  ///< sum over the steps of the most that one node combined
  std::uint64_t unasked_blocks = 0;        ///< partials left at nodes that do not want them
  std::uint64_t digest = 0;                ///< sum of message_digest() over all messages
};

/// Takes the messages of a trace in order. Memory: O(nodes + channels) that messages touch, the blocks that have reached nodes and the
/// arrivals of one step. Time: O(hops + blocks + nodes).
class Judge {
 public:
  /// Throws InputError if the available memory is too small for the header's machine; message() and finish() do for the blocks that nodes
  /// hold. look: called now and then during long work; what it throws ends the work.
  explicit Judge(const TraceHeader& header, std::function<void()> look = {});
  ~Judge();

  /// False once there are too many violations to read on.
  bool message(const TraceMessage& message);
  /// The verdict after the last message.
  Verdict finish();

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace torus
