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

#include <torus/executor.hpp>
#include <torus/machine.hpp>
#include <torus/message.hpp>
#include <torus/node.hpp>
#include <torus/placement.hpp>
#include <torus/program.hpp>
#include <torus/result.hpp>

namespace torus {

struct RunOptions {
  ExecutorKind executor = default_executor;
  unsigned threads = 0;     ///< workers; 0: the host's cores. serial and shuffled always use one
  std::uint64_t seed = 1;   ///< of the blocks' bytes, and of the order of `shuffled`
  Bytes memory_limit = 0;   ///< 0: 80 % of the memory that is available now
  Bytes program_bytes = 0;  ///< what the algorithm says its tables and nodes allocate, for the estimate
  bool verify = true;       ///< check every byte at the end
  std::uint64_t idle_steps =
      0;  ///< barriers without a message after which nodes that only pass barriers hang; 0: 64 and 4 times the sum of the extents
  /// Called at each barrier that messages cross, on the calling thread, with the messages of the step in no particular order.
  std::function<void(std::span<const Message* const>)> on_messages = {};
  /// Called at each barrier, on the calling thread.
  std::function<void(Step)> on_step = {};
  /// Set from elsewhere (a signal handler): the run ends at the next barrier.
  const std::atomic<bool>* stop = nullptr;
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
/// workers: of the executor; each keeps some free slots at hand. Programs that send much more than one message a node and step, or many
/// blocks that their receivers hold already, need more than this says; such a run ends with a RunError when it comes to the memory limit.
MemoryEstimate estimate_memory(const Machine& machine, const Placement& placement, Bytes program_bytes = 0, unsigned workers = 1);

/// An emulated machine with its blocks in place; runs programs on it.
///
/// Deterministic: a program gives one result and one trace, whatever the executor and the number of threads. An exception thrown by a
/// program ends the run after its step; the lowest node's is rethrown. So does one that a send throws (RunError: no memory for the
/// message), caught or not.
class Engine {
 public:
  /// Allocates everything a run needs. Throws InputError, before anything is allocated, if the placement was made for another number of
  /// nodes, if a run needs more than the memory limit or if nodes would hold more than most_blocks blocks; RunError if the system starts
  /// fewer threads than asked for; std::bad_alloc if it has less memory than it said.
  Engine(const Machine& machine, const Placement& placement, RunOptions options);
  ~Engine();
  Engine(Engine&&) noexcept;

  /// Runs start(node) on every node to the end. May be called again: each run starts with fresh blocks and nodes. start is called by all
  /// workers at once, for different nodes. Throws what start or a program throws. Not from within a program, and not from two threads at
  /// once.
  RunResult run(const std::function<Program(Node&)>& start);

  /// A node's copy of a block after the last run; empty if it does not hold it. The rank must be a node's. For tests and tools.
  std::span<const std::byte> bytes(NodeId node, BlockId id) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace torus
