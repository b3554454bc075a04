/// The judge of traces: legality of every step, causality, delivery. It re-derives all from the trace alone and shares nothing with the
/// engine or its auditor, so that a mistake there does not hide here.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <torus/trace_reader.hpp>

namespace torus {

/// What a trace is worth.
struct Verdict {
  bool ok = false;                    ///< legal and complete
  std::vector<std::string> offences;  ///< the first ones, in the order of the trace; each names step, node or channel
  bool stopped = false;               ///< there were so many offences that the rest was not read
  std::uint64_t busy_steps = 0;       ///< steps with a line in the trace
  std::int64_t last_step = -1;        ///< the number of the last of them; -1: none
  std::uint64_t messages = 0;
  std::uint64_t control_messages = 0;  ///< without a block
  std::uint64_t hops = 0;
  Bytes bytes = 0;
  std::uint64_t max_channel_load = 0;  ///< most messages on a channel in a step
  Bytes max_channel_bytes = 0;         ///< most bytes on a channel in a step
  Bytes channel_bytes = 0;             ///< sum over the steps of the most bytes on a channel: what the model time charges T_c for
  std::uint64_t missing_blocks = 0;    ///< (node, block) pairs that were wanted and did not arrive
  std::uint64_t digest = 0;            ///< sum of message_digest() over all messages
};

/// Give it the messages in the order of the trace. Memory: O(nodes + channels) and what the nodes hold, not what the trace says; a step's
/// arrivals are kept until the step is over. Time: O(hops + blocks).
class Judge {
 public:
  /// Throws InputError if the machine of the header is too large to be judged in the memory at hand.
  explicit Judge(const TraceHeader& header);
  ~Judge();

  /// False once there are so many offences that it is no use to go on.
  bool message(const TraceMessage& message);
  /// The verdict after the last message.
  Verdict finish();

 private:
  class Bench;
  std::unique_ptr<Bench> bench_;
};

}  // namespace torus
