/// The engine: runs one program a node, step by step, until all have ended.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>

#include <torus/executor.hpp>
#include <torus/groups.hpp>
#include <torus/injection.hpp>
#include <torus/machine.hpp>
#include <torus/message.hpp>
#include <torus/node.hpp>
#include <torus/placement.hpp>
#include <torus/processes.hpp>
#include <torus/program.hpp>
#include <torus/result.hpp>

namespace torus {

namespace detail {
class KeptPages;
class Watch;
}  // namespace detail
/// A place where an engine leaves the memory of its blocks for the next engine; see RunOptions::keep_memory. It holds the memory of one.
std::shared_ptr<detail::KeptPages> kept_memory();

/// Memory that the engine cannot know of before programs run. For the estimate; all at most.
struct ProgramMemory {
  Bytes tables = 0;      ///< that all nodes share
  Bytes node = 384;      ///< of a node: the frames of its program and of those that it calls, and what these allocate
  Bytes messages = 128;  ///< that a node sends in two successive steps, on average over the nodes; a short one takes a cache line
};

struct RunOptions {
  ExecutorKind executor = default_executor;
  unsigned threads = 0;           ///< workers; 0: the cores that this process may use. serial and shuffled always have one
  bool fewer_threads_do = false;  ///< where the system does not start them all; always so with threads 0. Else that is a RunError
  std::uint64_t seed = 1;         ///< of the blocks' bytes, and of the order of `shuffled`
  Bytes memory_limit = 0;         ///< 0: 80 % of the memory that is available now
  ProgramMemory program_memory = {};
  bool verify = true;            ///< check every byte at the end
  std::uint64_t idle_steps = 0;  ///< report a hang after more consecutive steps without traffic; 0: 64 + 4 * the sum of the extents
  /// Called after each step with messages, on the calling thread. The messages come in no particular order.
  std::function<void(std::span<const Message* const>)> on_messages = {};
  /// Called before on_messages where a program named the step's phase.
  std::function<void(const char* phase)> on_phase = {};
  /// Called after each step, on the calling thread.
  std::function<void(Step)> on_step = {};
  /// Another thread or a signal handler may set it: the run then ends after its step.
  const std::atomic<bool>* stop = nullptr;
  /// The processes of the run; null: one. Each has an engine of its own with the same machine, placement, options and programs, and the
  /// nodes of a range of ranks: see Engine. All get one result. Process 0 alone calls on_messages, on_phase and on_fault; a stop of any
  /// process ends the run of all. Executor, threads and memory may differ between processes; any other difference is refused with an
  /// InputError in all. Must outlive the engine.
  Processes* processes = nullptr;
  /// Describes the programs in free text: algorithm, parameters, captured values. Must be equal in all processes of a run. run() and
  /// make_engine() fill it in for an algorithm.
  std::string programs = {};
  /// Injected into each run; RunResult::fault records its effect.
  std::optional<Fault> fault = {};
  /// Called as soon as the fault has struck, on the calling thread; later steps may throw or end the process.
  std::function<void(const FaultRecord&)> on_fault = {};
  /// For many short runs in a row: the engine takes the memory of its blocks from there, and leaves it there when it ends. So the kernel
  /// need not find and zero it for each engine. Kept memory counts as used. One engine at a time; null: the kernel provides the memory.
  std::shared_ptr<detail::KeptPages> keep_memory = {};
  /// Shows another thread, the command's watchdog, which nodes run. It must outlive the engine; null: none.
  detail::Watch* watch = nullptr;
};

/// The memory that a run needs.
struct MemoryEstimate {
  Bytes payload = 0;  ///< the bytes of the blocks
  Bytes blocks = 0;   ///< bookkeeping of blocks
  Bytes nodes = 0;    ///< nodes, programs (ProgramMemory::node), queues, channels
  Bytes flight = 0;   ///< messages of two steps: ProgramMemory::messages
  Bytes routes = 0;   ///< that these messages carry along: of mapped ranks that lie apart
  Bytes tables = 0;   ///< ProgramMemory::tables
  Bytes total() const noexcept { return payload + blocks + nodes + flight + routes + tables; }
};
/// Estimates a run before anything is allocated. workers: of the executor; each keeps some free slots at hand. Programs that send many
/// blocks which the sender keeps or the receiver holds already need more, unless Placement::with_copies() counts them; such a run ends with
/// a RunError when it reaches the memory limit.
MemoryEstimate estimate_memory(const Machine& machine, const Placement& placement, const ProgramMemory& programs = {},
                               unsigned workers = 1);

/// An emulated machine with its blocks in place. It runs programs, audits every step and verifies every byte.
///
/// Deterministic: a program gives one result and one trace, whatever the executor and the number of threads. If programs throw, the run
/// ends after that step and the exception of the lowest node is rethrown: as std::bad_alloc, else as a RunError that begins with step and
/// node and has the program's own nested in it (std::rethrow_if_nested). A send that finds no memory ends the run with a RunError, also if
/// the program catches it.
class Engine {
 public:
  /// Allocates everything a run needs. Throws InputError, before anything is allocated, if the placement was made for another number of
  /// nodes, if a run needs more than the memory limit or if nodes would hold more than most_blocks blocks; RunError if the system starts
  /// fewer threads than asked for; std::bad_alloc if it has less memory than it said.
  explicit Engine(const Machine& machine, const Placement& placement, RunOptions options = {});
  /// Runs the programs in each group by itself, on the channels of the whole machine. A program sees its group as its machine: ranks,
  /// coordinates, neighbours, sources and blocks are the group's, and a node that a leg would take out of the group ends the run with a
  /// violation. The placement is of one group's nodes. The bytes of a block follow from its group, too; those of group 0 are the ones of a
  /// run alone. All that the engine reports or is asked has the machine's ranks, dimensions and hops, and the group's numbers of blocks.
  /// Throws also what Groups::machine() throws.
  Engine(const Machine& machine, const Groups& groups, const Placement& placement, RunOptions options = {});
  ~Engine();
  Engine(Engine&&) noexcept;

  /// Runs program(node) on every node to the end. Each run starts with fresh blocks and nodes. All workers call `program` at once, for
  /// different nodes. Rethrows what it or a node program throws. Not from within a program of this engine, and not from two threads at
  /// once.
  RunResult run(const std::function<Program(Node&)>& program);
  /// Runs program(node, arguments...) on every node: engine.run(ring_broadcast, root). The arguments are copied and kept for the run.
  template <class F, class... Arguments>
  requires(sizeof...(Arguments) > 0 && std::is_invocable_r_v<Program, const F&, Node&, const Arguments&...>) RunResult
      run(const F& program, const Arguments&... arguments) {
    return run(std::function<Program(Node&)>([&program, kept = std::tuple(arguments...)](Node& self) {
      return std::apply([&](const auto&... each) { return program(self, each...); }, kept);
    }));
  }

  /// A node's copy of a block after the last run, or within RunOptions::on_step; empty if it does not hold it, or is another process's. The
  /// node must exist. For tests and tools.
  std::span<const std::byte> bytes(NodeId node, BlockId id) const;
  /// The bytes of the i-th block of a message that RunOptions::on_messages is given. On one process, until on_step has returned.
  std::span<const std::byte> bytes(const Message& message, std::size_t i) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace torus
