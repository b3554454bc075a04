/// Receiving: messages are prefetched, taken from the queues, and forwarded by their receiver or stored.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include <torus/error.hpp>
#include <torus/node.hpp>

#include "runtime/engine/run_state.hpp"
#include "runtime/engine/worker.hpp"

namespace torus::detail {

// Functions over what workers share and one worker's own.
namespace inbox {

/// Blocks of a message that are prefetched ahead: first to the second-level cache, which waits for more lines at once, then to the first.
inline constexpr std::size_t far_ahead = 64;
inline constexpr std::size_t near_ahead = 16;

// ---- storing ----

/// Stores all that has arrived for the running node.
void store_all(RunState& run, Worker& w);
/// Stores what has arrived for nodes whose programs have run.
void store_all(RunState& run, Worker& w, std::span<const NodeId> nodes, std::span<const ArrivedMessages> arrived);
/// Stores what has arrived for the running node and has not been forwarded. To be called before its table is read. Most blocks in transit
/// leave in the step in which they arrive: forward() finds them in the message, and they never enter the table.
inline void store_arrivals(RunState& run, Worker& w) {
  if (w.node.next != w.node.end || w.node.unstored) store_all(run, w);
}

// ---- forwarding ----

/// The message that has just brought a block alone, if it is one of the first few and its block has not been forwarded. The caller must
/// forward it now. Only where no block has a second copy: else the node might hold another one.
Message* take_single(const RunState& run, Worker& w, BlockId id) noexcept;
/// The slots of blocks that a message has brought and that are neither forwarded nor stored, if all before them in it have been forwarded;
/// else null. The caller must forward them now, and set the slot of an only block to 0. Only where no block has a second copy.
Slot* take_bundle(const RunState& run, Worker& w, std::span<const BlockId> blocks) noexcept;

// ---- running nodes ----

/// To be called before a program sees its arrivals.
inline void open(RunState& run, Worker& w, NodeId rank, ArrivedMessages& arrived) noexcept {
  RunningNode& node = w.node;
  node.enter(MessageArena::step_and_source(run.now, rank));
  node.out_channels = run.channels.of_node(rank);
  node.ports_left = run.ports;
  node.arrived = &arrived;
  node.end = arrived.room.data() + arrived.size;
  node.next = run.all_single_block ? arrived.room.data() : node.end;
  node.unstored = !run.all_single_block && arrived.size > 0;
}
/// To be called when the program has run. Arrivals that stay are stored now; or, in a step with other messages than single blocks, when the
/// programs of a few more nodes have run: then their table entries are prefetched together.
inline void close(RunState& run, Worker& w, ArrivedMessages& arrived) {
  if (run.all_single_block)
    store_arrivals(run, w);
  else if (!w.node.unstored)
    arrived.size = 0;
}

// Stages that a few nodes pass before their programs run.

/// Prefetches the nodes' objects, channels and in-queues. `all` are the machine's nodes.
void prefetch(const RunState& run, std::span<const NodeId> nodes, const Node* all) noexcept;
/// Takes what has arrived from the queues, and prefetches the messages and the programs.
void receive(RunState& run, Worker& w, std::span<const NodeId> nodes, Node* all, ArrivedMessages* arrived);
/// Prefetches the slot lists of messages with several blocks.
void prefetch_lists(std::span<const ArrivedMessages> arrived) noexcept;
/// Prefetches the blocks that have arrived.
void prefetch_blocks(const RunState& run, std::span<const NodeId> nodes, const ArrivedMessages* arrived) noexcept;

/// True if prefetch_lists() may help.
inline bool has_lists(const RunState& run) noexcept { return !run.all_single_block && !run.only_block; }
/// True if prefetch_blocks() may help. Else forwarding prefetches in time, or blocks stay and their entries in the tables are in the
/// cache.
inline bool prefetches_blocks(const RunState& run) noexcept {
  return run.no_duplicates ? run.exceeds_cache || !run.all_single_block : run.exceeds_cache && !run.only_block;
}

/// The last stage. Apart, so that what programs need is in registers.
template <class Program>
[[gnu::noinline]] void run_programs(RunState& run, Worker& w, std::span<const NodeId> nodes, Node* all, ArrivedMessages* arrived,
                                    Program program) {
  static_assert(std::is_trivially_copyable_v<Program>);
  ArrivedMessages* each = arrived;
  for (const NodeId rank : nodes) program(all[rank], rank, *each++);
  if (!run.all_single_block) store_all(run, w, nodes, {arrived, nodes.size()});
}

/// Calls program(node, rank, arrived) for nodes, in order. Nodes run a few at a time, in stages, so that a stage finds in the cache what
/// the stages before it have prefetched. `all` are the machine's nodes.
template <class Program>
void run_in_stages(RunState& run, Worker& w, std::span<const NodeId> nodes, Node* all, const Program& program) {
  if (run.now == 0) {  // nothing has arrived, and the frames lie in order
    for (const NodeId rank : nodes) program(all[rank], rank, w.in.none);
    return;
  }
  static constexpr std::size_t few = Incoming::nodes_a_stage;
  const auto part = [nodes](std::size_t i) { return nodes.subspan(i * few, std::min<std::size_t>(few, nodes.size() - i * few)); };
  const auto arrived = [first = w.in.nodes.data(), size = w.in.nodes.size()](std::size_t i) { return first + i * few % size; };
  const std::size_t parts = (nodes.size() + few - 1) / few;
  const bool far = run.exceeds_cache;
  const bool blocks = prefetches_blocks(run);
  const bool lists = blocks && has_lists(run);
  const std::size_t before = lists ? 4 : blocks ? 3 : 2;  // stages before the programs run
  static_assert(Incoming::max_stages >= 4);
  for (std::size_t i = 0; i < parts + before; ++i) {
    if (far && i < parts) prefetch(run, part(i), all);
    if (i - 1 < parts) receive(run, w, part(i - 1), all, arrived(i - 1));
    if (lists && i - 2 < parts) prefetch_lists({arrived(i - 2), part(i - 2).size()});
    if (blocks && i - (before - 1) < parts) prefetch_blocks(run, part(i - (before - 1)), arrived(i - (before - 1)));
    if (i - before < parts) run_programs(run, w, part(i - before), all, arrived(i - before), program);
  }
}

}  // namespace inbox
}  // namespace torus::detail
