/// What a run did and how it ended.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <torus/block.hpp>
#include <torus/machine.hpp>
#include <torus/node.hpp>
#include <torus/violation.hpp>

namespace torus {

/// The first thing that is wrong with what the nodes hold at the end, by (node, block).
struct WrongDelivery {
  enum class Kind : std::uint8_t { missing, unasked, damaged };
  Kind kind{};
  NodeId node = 0;
  BlockId block = 0;
  std::uint64_t offset = 0;  ///< damaged: of the first wrong byte
  std::uint8_t got = 0;
  std::uint8_t wanted = 0;
};

/// What one step carried.
struct StepRecord {
  std::uint64_t messages = 0;
  std::uint64_t control_messages = 0;  ///< without blocks
  std::uint64_t hops = 0;
  Bytes bytes = 0;                  ///< of all messages, headers included
  Bytes payload_bytes = 0;          ///< of the blocks alone
  Bytes most_bytes = 0;             ///< on one channel
  std::uint32_t longest_route = 0;  ///< hops
  const char* phase = nullptr;      ///< what the programs called it
};

/// A run that would have waited for ever.
struct Hang {
  struct Waiting {
    NodeId node = 0;
    Wait waits_for = Wait::arrival;
    std::optional<Step> last_arrival;  ///< the step that brought its last message
  };
  std::uint64_t nodes = 0;           ///< that had not ended
  std::vector<Waiting> first;        ///< the first of them, by rank
  std::optional<Step> last_traffic;  ///< the last step with a message
  bool stepping = false;             ///< they did pass barriers, but nothing was sent for longer than RunOptions::idle_steps
};

struct RunResult {
  // What happened. Reproducible: the same for every executor and number of threads. After a violation: what happened in the steps before
  // it, and in its own if only its receivers noticed; what the channels carried then depends on which of the messages that met was first.
  std::uint64_t steps = 0;       ///< barriers crossed, until all programs had ended
  std::uint64_t busy_steps = 0;  ///< of them, with a message
  std::uint64_t messages = 0;
  std::uint64_t control_messages = 0;
  std::uint64_t hops = 0;
  std::uint64_t blocks_delivered = 0;
  std::uint64_t duplicates = 0;        ///< blocks that reached a node that held them already
  Bytes bytes_delivered = 0;           ///< of all blocks of all messages, once a delivery
  Bytes control_bytes = 0;             ///< of all headers
  Bytes bytes_hops = 0;                ///< message bytes times hops
  std::uint64_t max_channel_load = 0;  ///< most messages on one channel in one step
  Bytes channel_bytes_max = 0;         ///< over the whole run, on the busiest channel
  double channel_bytes_mean = 0;       ///< over all channels
  double channel_idle_share = 0;       ///< channels that never carried anything
  Bytes channel_bytes_sum = 0;         ///< sum over the steps of the most bytes on a channel: what model time charges
  double model_time_s = 0;
  std::uint64_t trace_digest = 0;  ///< sum of the hashes of all messages
  std::vector<StepRecord> step_records;

  // How it ended.
  std::vector<Violation> violations;   ///< of the first step that has any, by node; the first 1000
  std::uint64_t violations_found = 0;  ///< all of that step
  std::optional<Hang> hang;
  std::optional<WrongDelivery> wrong;
  bool verified = false;  ///< every wanted block is where it should be, byte for byte, and nothing else
  bool interrupted = false;
  bool good() const noexcept { return violations.empty() && !hang && !wrong && !interrupted; }

  // How long it took on this host.
  double setup_s = 0;  ///< memory, queues, filling, making programs
  double run_s = 0;
  double verify_s = 0;
  unsigned threads = 0;
  Bytes memory_bytes = 0;  ///< what the estimate came to
};

}  // namespace torus
