// SPDX-License-Identifier: MIT
/// The engine: runs one program a node, step by step, until all have ended; audits every step and verifies every byte.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/block.hpp"
#include "runtime/executor.hpp"
#include "runtime/machine.hpp"
#include "runtime/message.hpp"
#include "runtime/node.hpp"
#include "runtime/program.hpp"
#include "runtime/verifier.hpp"
#include "runtime/violation.hpp"

namespace torus {

struct RunOptions {
  ExecutorKind executor = default_executor;
  unsigned threads = 0;           ///< workers; 0: the host's cores. serial and shuffled always use one
  std::uint64_t seed = 1;         ///< of the blocks' bytes, and of the order of `shuffled`
  Bytes memory_limit = 0;         ///< 0: 80 % of the memory that is available now
  Bytes program_bytes = 0;        ///< what the algorithm says its tables and nodes allocate, for the estimate
  bool verify = true;             ///< check every byte at the end
  std::uint64_t idle_steps = 0;   ///< barriers without a message after which nodes that only pass barriers hang; 0: 64 and 4 times the sum of the extents
  /// Called at each barrier that messages cross, on the calling thread, with the messages of the step in no particular order.
  std::function<void(std::span<const Message* const>)> on_messages = {};
  /// Called at each barrier, on the calling thread.
  std::function<void(Step)> on_step = {};
  /// Set from elsewhere (a signal handler): the run ends at the next barrier.
  const std::atomic<bool>* stop = nullptr;
};

/// What one step carried.
struct StepRecord {
  std::uint64_t messages = 0;
  std::uint64_t control_messages = 0;  ///< without blocks
  std::uint64_t hops = 0;
  Bytes bytes = 0;                     ///< of all messages, headers included
  Bytes payload_bytes = 0;             ///< of the blocks alone
  Bytes most_bytes = 0;                ///< on one channel
  std::uint32_t longest_route = 0;     ///< hops
  const char* phase = nullptr;         ///< what the programs called it
};

/// A run that would have waited for ever.
struct Hang {
  struct Waiting {
    NodeId node = 0;
    Wait waits_for = Wait::arrival;
    std::optional<Step> last_arrival;  ///< the step that brought its last message
  };
  std::uint64_t nodes = 0;               ///< that had not ended
  std::vector<Waiting> first;            ///< the first of them, by rank
  std::optional<Step> last_traffic;      ///< the last step with a message
  bool stepping = false;                 ///< they did pass barriers, but nothing was sent for longer than RunOptions::idle_steps
};

struct RunResult {
  // What happened. Reproducible: the same for every executor and number of threads. After a violation: what happened in the steps before it, and in its own
  // if only its receivers noticed; what the channels carried then depends on which of the messages that met was first.
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
  std::uint64_t trace_digest = 0;      ///< sum of the hashes of all messages
  std::vector<StepRecord> step_records;

  // How it ended.
  std::vector<Violation> violations;  ///< of the first step that has any, by node; the first 1000
  std::uint64_t violations_found = 0; ///< all of that step
  std::optional<Hang> hang;
  std::optional<WrongDelivery> wrong;
  bool verified = false;              ///< every wanted block is where it should be, byte for byte, and nothing else
  bool interrupted = false;
  bool good() const noexcept { return violations.empty() && !hang && !wrong && !interrupted; }

  // How long it took on this host.
  double setup_s = 0;                 ///< memory, queues, filling, making programs
  double run_s = 0;
  double verify_s = 0;
  unsigned threads = 0;
  Bytes memory_bytes = 0;             ///< what the estimate came to
};

/// What a run will need, before anything is allocated.
struct MemoryEstimate {
  Bytes payload = 0;   ///< the blocks' slots
  Bytes blocks = 0;    ///< bookkeeping of blocks
  Bytes nodes = 0;     ///< nodes, frames, queues, channels
  Bytes flight = 0;    ///< messages of two steps
  Bytes programs = 0;  ///< what the algorithm says it allocates
  Bytes total() const noexcept { return payload + blocks + nodes + flight + programs; }
};
/// workers: of the executor; each keeps some free slots at hand. Programs that send much more than one message a node and step, or many blocks that their
/// receivers hold already, need more than this says; such a run ends with a RunError when it comes to the memory limit.
MemoryEstimate estimate_memory(const Machine& machine, const Placement& placement, Bytes program_bytes = 0, unsigned workers = 1);

/// An emulated machine with its blocks in place; runs programs on it.
///
/// Deterministic: a program gives one result and one trace, whatever the executor and the number of threads. An exception thrown by a program
/// ends the run after its step; the lowest node's is rethrown. So does one that a send throws (RunError: no memory for the message), caught or not.
class Engine {
 public:
  /// Allocates everything a run needs. Throws InputError, before anything is allocated, if that is more than the memory limit or nodes would hold more than
  /// most_blocks blocks; RunError if the system starts fewer threads than asked for; std::bad_alloc if it has less memory than it said.
  Engine(const Machine& machine, const Placement& placement, RunOptions options);
  ~Engine();
  Engine(Engine&&) noexcept;

  /// Runs start(node) on every node to the end. May be called again: each run starts with fresh blocks and nodes. start is called by all workers at once,
  /// for different nodes. Throws what start or a program throws. Not from within a program, and not from two threads at once.
  RunResult run(const std::function<Program(Node&)>& start);

  /// A node's copy of a block after the last run; empty if it does not hold it. The rank must be a node's. For tests and tools.
  std::span<const std::byte> bytes(NodeId node, BlockId id) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace torus
